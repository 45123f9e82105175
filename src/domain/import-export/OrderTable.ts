import { type CellType, readCell, writeCell } from "./Cells.ts"
import { groupingReader, headerProblem, type Row, type TableFormat } from "./FileTable.ts"

/** Columns of an order: on its first line. */
const own: Readonly<Record<string, CellType>> = {
  orderNumber: "text",
  status: "text",
  placedAt: "text",
  email: "text",
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
  slug: "text",
  options: "json",
  title: "text",
  entityType: "text",
  quantity: "number",
  unitPrice: "number",
  totalPrice: "number",
  discountAmount: "number",
  taxAmount: "number",
  refundedQuantity: "number",
  fulfillmentStatus: "text"
}

/** Columns that older exports have: ids of the store they come from. */
const unread: ReadonlyArray<string> = ["id", "customerId", "line.entityId", "line.variantId"]

const columns: ReadonlyMap<string, CellType> = new Map([
  ...Object.entries(own),
  ...Object.entries(line).map(([name, type]) => [`line.${name}`, type] as const)
])

const needed: ReadonlyArray<string> = [
  "orderNumber",
  "status",
  "placedAt",
  "currency",
  "grandTotal",
  "line.title",
  "line.quantity",
  "line.unitPrice"
]

/** The values of the columns that begin with a prefix; an empty cell leaves the field out. */
const valuesOf = (row: Row, names: ReadonlyArray<string>, prefix = "") =>
  Object.fromEntries(names.flatMap((name) => {
    const cell = row.get(prefix + name)
    return cell === undefined ? [] : [[name, readCell(columns.get(prefix + name) ?? "text", cell)] as const]
  }))

const recordOf = (rows: ReadonlyArray<Row>) => {
  const lines = rows.map((row) => valuesOf(row, Object.keys(line), "line."))
  return {
    ...valuesOf(rows[0] ?? new Map<string, string>(), Object.keys(own)),
    lineItems: lines.filter((values) => Object.keys(values).length > 0)
  }
}

/** Tables of orders: a line for each line of an order, whose own columns stand on the first. */
export const orderTable: TableFormat = {
  open: (header) => {
    const problem = headerProblem(header, (name) => columns.has(name) || unread.includes(name), needed)
    return problem === undefined ? groupingReader(header, "orderNumber", recordOf) : { problem }
  }
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
