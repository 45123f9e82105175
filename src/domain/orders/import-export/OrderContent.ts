import { Equal, Result } from "effect"
import { orderTotals, type TotalsLine } from "../../checkout/Totals.ts"
import type { Issue } from "../../errors/ApiErrors.ts"
import type { Order, OrderLine } from "../Order.ts"
import type { LineRecord, OrderRecord } from "./OrderRecord.ts"

/** A line as a file describes it, with everything that follows from its order. */
export type LineContent = Pick<
  OrderLine,
  | "discountAmount"
  | "entityType"
  | "fulfillmentStatus"
  | "quantity"
  | "refundedQuantity"
  | "sku"
  | "taxAmount"
  | "title"
  | "totalPrice"
  | "unitPrice"
>

/** An order as a file describes it; amounts in minor units. */
export interface OrderContent extends
  Omit<
    Order,
    "customerId" | "id" | "idempotencyKey" | "lineItems" | "organizationId" | "updatedAt" | `payment${string}`
  >
{
  readonly email: string | null
  readonly lineItems: ReadonlyArray<LineContent>
}

const wrong = (path: string, message: string, code = "does_not_add_up"): Issue => ({ path, message, code })

/** An issue if a given amount differs from the computed one. */
const off = (path: string, given: number | null | undefined, computed: number): ReadonlyArray<Issue> =>
  given === undefined || given === null || given === computed
    ? []
    : [wrong(path, `is ${given}, and what the order is made of comes to ${computed}`)]

const isGiven = (lines: ReadonlyArray<LineRecord>, field: "discountAmount" | "taxAmount"): boolean =>
  lines.some((line) => typeof line[field] === "number")

/**
 * The totals of an order, computed by the same function as in checkout: from the lines' discounts and taxes if present,
 * else with the order's amounts split over the lines.
 */
const totalsOf = (record: OrderRecord) => {
  const { lineItems, taxIncluded } = record
  const lines = lineItems.map(({ quantity, unitPrice }, index): TotalsLine => ({
    key: String(index),
    quantity,
    unitPrice
  }))
  return orderTotals({
    currency: record.currency,
    lines,
    discounts: isGiven(lineItems, "discountAmount")
      ? lineItems.map(({ discountAmount }, index) => ({ amount: discountAmount ?? 0, eligibleLines: [index] }))
      : [{ amount: record.discountTotal ?? 0 }],
    ...(isGiven(lineItems, "taxAmount")
      ? { lineTaxes: lineItems.map(({ taxAmount }) => taxAmount ?? 0) }
      : { taxTotal: record.taxTotal ?? 0 }),
    shippingTotal: record.shippingTotal ?? 0,
    taxIncluded: taxIncluded ?? false
  })
}

type Totals = Result.Result.Success<ReturnType<typeof totalsOf>>

const sumIssues = (record: OrderRecord, totals: Totals): ReadonlyArray<Issue> => [
  ...record.lineItems.flatMap(({ discountAmount, taxAmount, totalPrice }, index) => {
    const computed = totals.lines[index]
    const path = `lineItems.${index}`
    return computed === undefined ? [] : [
      ...off(`${path}.totalPrice`, totalPrice, computed.totalPrice),
      ...off(`${path}.discountAmount`, discountAmount, computed.discountAmount),
      ...off(`${path}.taxAmount`, taxAmount, computed.taxAmount)
    ]
  }),
  ...off("subtotal", record.subtotal, totals.subtotal),
  ...off("discountTotal", record.discountTotal, totals.discountTotal),
  ...off("taxTotal", record.taxTotal, totals.taxTotal),
  ...off("grandTotal", record.grandTotal, totals.grandTotal)
]

/** Neither money that was never captured nor units that were never sold can be refunded. */
const returnIssues = ({ amountCaptured, grandTotal, lineItems, refundedTotal }: OrderRecord): ReadonlyArray<Issue> => [
  ...((amountCaptured ?? 0) > grandTotal ? [wrong("amountCaptured", "is more than the grand total")] : []),
  ...((refundedTotal ?? 0) > (amountCaptured ?? 0) ? [wrong("refundedTotal", "is more than was captured")] : []),
  ...lineItems.flatMap(({ quantity, refundedQuantity }, index) =>
    (refundedQuantity ?? 0) > quantity
      ? [wrong(`lineItems.${index}.refundedQuantity`, "is more than the quantity")]
      : []
  )
]

/** Tolerance for different clocks, and for time zones missing from a file. */
const oneDay = 86_400_000

const timeIssues = ({ cancelledAt, fulfilledAt, placedAt }: OrderRecord, now: Date): ReadonlyArray<Issue> =>
  Object.entries({ placedAt, fulfilledAt, cancelledAt }).flatMap(([path, at]) =>
    at !== undefined && at !== null && at.getTime() > now.getTime() + oneDay
      ? [wrong(path, "lies in the future", "invalid")]
      : []
  )

/** In a fulfilled or refunded order, a line without a status counts as fulfilled. */
const handedOver = ({ status }: OrderRecord) =>
  status === "fulfilled" || status === "refunded" ? "fulfilled" : "unfulfilled"

const linesOf = (record: OrderRecord, totals: Totals): ReadonlyArray<LineContent> =>
  record.lineItems.map((line, index) => ({
    sku: line.sku ?? null,
    title: line.title,
    entityType: line.entityType ?? "product",
    quantity: line.quantity,
    unitPrice: line.unitPrice,
    totalPrice: totals.lines[index]?.totalPrice ?? 0,
    discountAmount: totals.lines[index]?.discountAmount ?? 0,
    taxAmount: totals.lines[index]?.taxAmount ?? 0,
    refundedQuantity: line.refundedQuantity ?? 0,
    fulfillmentStatus: line.fulfillmentStatus ?? handedOver(record)
  }))

const contentOf = (record: OrderRecord, totals: Totals): OrderContent => ({
  orderNumber: record.orderNumber,
  status: record.status,
  placedAt: record.placedAt,
  email: record.email ?? null,
  currency: record.currency,
  subtotal: totals.subtotal,
  discountTotal: totals.discountTotal,
  shippingTotal: totals.shippingTotal,
  taxTotal: totals.taxTotal,
  taxIncluded: totals.taxIncluded,
  grandTotal: totals.grandTotal,
  amountCaptured: record.amountCaptured ?? null,
  refundedTotal: record.refundedTotal ?? 0,
  fulfilledAt: record.fulfilledAt ?? null,
  cancelledAt: record.cancelledAt ?? null,
  shippingAddress: record.shippingAddress ?? null,
  metadata: record.metadata ?? {},
  lineItems: linesOf(record, totals)
})

/** The full content of a record, or everything in it that does not add up. */
export const orderContent = (record: OrderRecord, now: Date): Result.Result<OrderContent, ReadonlyArray<Issue>> => {
  const totals = totalsOf(record)
  if (Result.isFailure(totals)) return Result.fail([wrong("", totals.failure.message)])
  const issues = [...sumIssues(record, totals.success), ...returnIssues(record), ...timeIssues(record, now)]
  return issues.length > 0 ? Result.fail(issues) : Result.succeed(contentOf(record, totals.success))
}

/** Fields that identify a line's product; resolved in the current catalog and not part of the order. */
const lineFields = (line: object) =>
  Object.fromEntries(Object.entries(line).filter(([name]) => name !== "slug" && name !== "options"))

/** Whether a record in a file equals the stored order, `stored` in the form of an export. */
export const sameOrder = (content: OrderContent, stored: Readonly<Record<string, unknown>>): boolean => {
  const { lineItems, ...own } = content
  const { lineItems: storedLines, ...storedOwn } = stored
  const texts = Object.entries(own).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value])
  const lower = (email: unknown) => typeof email === "string" ? email.toLowerCase() : email
  return Array.isArray(storedLines) && storedLines.length === lineItems.length &&
    Equal.equals({ ...Object.fromEntries(texts), email: lower(own.email) }, {
      ...storedOwn,
      email: lower(storedOwn["email"])
    }) &&
    lineItems.every((line, index) => {
      const there: unknown = storedLines[index]
      return typeof there === "object" && there !== null && Equal.equals(lineFields(line), lineFields(there))
    })
}
