import { type CellType, writeCell } from "./Cells.ts"

/** Columns of an order: on its first line. */
const own: Readonly<Record<string, CellType>> = {
  orderNumber: "text",
  id: "text",
  status: "text",
  placedAt: "text",
  email: "text",
  customerId: "text",
  currency: "text",
  subtotal: "number",
  discountTotal: "number",
  shippingTotal: "number",
  taxTotal: "number",
  taxIncluded: "boolean",
  grandTotal: "number",
  amountCaptured: "number",
  refundedTotal: "number",
  fulfilledAt: "text",
  cancelledAt: "text",
  shippingAddress: "json",
  metadata: "json"
}

/** Columns of its lines, one a line. */
const line: Readonly<Record<string, CellType>> = {
  sku: "text",
  title: "text",
  entityType: "text",
  quantity: "number",
  unitPrice: "number",
  totalPrice: "number",
  discountAmount: "number",
  taxAmount: "number",
  refundedQuantity: "number",
  fulfillmentStatus: "text",
  entityId: "text",
  variantId: "text"
}

/** The header of a table of orders. */
export const orderHeader: ReadonlyArray<string> = [
  ...Object.keys(own),
  ...Object.keys(line).map((name) => `line.${name}`)
]

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const cells = (types: Readonly<Record<string, CellType>>, values: Readonly<Record<string, unknown>> | undefined) =>
  Object.entries(types).map(([name, type]) => writeCell(type, values?.[name]))

/** The lines of an order. Lines behind the first one say of which order they are, and nothing else of it. */
export const orderLines = (order: Readonly<Record<string, unknown>>): ReadonlyArray<ReadonlyArray<string>> => {
  const items = Array.isArray(order["lineItems"]) ? order["lineItems"].filter(isRecord) : []
  const [first, ...rest] = items
  return [
    [...cells(own, order), ...cells(line, first)],
    ...rest.map((item) => [...cells(own, { orderNumber: order["orderNumber"] }), ...cells(line, item)])
  ]
}

const picked = (types: Readonly<Record<string, CellType>>, values: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.keys(types).map((name) => [name, values[name] ?? null]))

/** An order with its fields in the order in which people read them: the database sorts those of its JSON by length. */
export const orderRecord = (order: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
  ...picked(own, order),
  lineItems: Array.isArray(order["lineItems"])
    ? order["lineItems"].filter(isRecord).map((item) => picked(line, item))
    : []
})
