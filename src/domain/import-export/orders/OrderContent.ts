import { Array, Equal, Result, Schema, Struct } from "effect"
import { lineDetails } from "../../carts/Line.ts"
import type { Order, OrderLine } from "../../orders/Order.ts"
import { givenAddress } from "../../platform/addresses/PostalAddress.ts"
import type { Issue } from "../../platform/errors/ApiErrors.ts"
import { emailKey } from "../../platform/text/Email.ts"
import { isStorableObject } from "../../platform/text/Storable.ts"
import { orderTotals } from "../../pricing/Totals.ts"
import type { OrderRecord } from "./OrderRecord.ts"
import { exportedReturn, returnIssues, returnsContent } from "./OrderReturns.ts"

const unsent: Pick<Order, "amountCaptured" | "cancelledAt" | "fulfilledAt" | "metadata" | "refundedTotal"> & {
  readonly email: string | null
  readonly shippingAddress: Order["shippingAddress"]
} = {
  email: null,
  amountCaptured: null,
  refundedTotal: 0,
  fulfilledAt: null,
  cancelledAt: null,
  shippingAddress: null,
  metadata: {}
}

const filled = <A extends object>(
  defaults: A,
  sent: { readonly [Field in keyof A]?: A[Field] | null | undefined }
): A => ({
  ...defaults,
  ...Object.fromEntries(
    Object.entries(sent).filter(([field, value]) => field in defaults && value !== undefined && value !== null)
  )
})

const wrong = (path: string, message: string, code = "does_not_add_up"): Issue => ({ path, message, code })

const off = (path: string, given: number | null | undefined, computed: number): ReadonlyArray<Issue> =>
  given === undefined || given === null || given === computed
    ? []
    : [wrong(path, `must be ${computed}, which the order comes to, and is ${given}.`)]

const totalsOf = ({ currency, lineItems, ...record }: OrderRecord) => {
  const isGiven = (field: "discountAmount" | "taxAmount") => lineItems.some((line) => typeof line[field] === "number")
  return orderTotals({
    currency,
    lines: lineItems.map(({ priceSteps, quantity, unitPrice }, index) => ({
      key: String(index),
      quantity,
      unitPrice,
      addedSteps: priceSteps ?? []
    })),
    discounts: isGiven("discountAmount")
      ? lineItems.map(({ discountAmount }, index) => ({ amount: discountAmount ?? 0, eligibleLines: [index] }))
      : [{ amount: record.discountTotal ?? 0 }],
    ...(isGiven("taxAmount")
      ? { lineTaxes: lineItems.map(({ taxAmount }) => taxAmount ?? 0) }
      : { taxTotal: record.taxTotal ?? 0 }),
    shippingTotal: record.shippingTotal ?? 0,
    taxIncluded: record.taxIncluded ?? false
  })
}

type Totals = Result.Result.Success<ReturnType<typeof totalsOf>>

const sumIssues = (record: OrderRecord, totals: Totals): ReadonlyArray<Issue> => [
  ...record.lineItems.flatMap((line, index) =>
    (["totalPrice", "discountAmount", "taxAmount"] as const).flatMap((field) =>
      off(`lineItems.${index}.${field}`, line[field], totals.lines[index]?.[field] ?? 0)
    )
  ),
  ...(["subtotal", "discountTotal", "taxTotal", "grandTotal"] as const).flatMap((field) =>
    off(field, record[field], totals[field])
  )
]

/** Neither money that was never captured nor units that were never sold can be refunded. */
const refundIssues = ({ amountCaptured, grandTotal, lineItems, refundedTotal }: OrderRecord): ReadonlyArray<Issue> => [
  ...((amountCaptured ?? 0) > grandTotal ? [wrong("amountCaptured", "must not be more than grandTotal.")] : []),
  ...((refundedTotal ?? 0) > (amountCaptured ?? 0)
    ? [wrong("refundedTotal", "must not be more than amountCaptured.")]
    : []),
  ...lineItems.flatMap(({ quantity, refundedQuantity }, index) =>
    (refundedQuantity ?? 0) > quantity
      ? [wrong(`lineItems.${index}.refundedQuantity`, "must not be more than quantity.")]
      : []
  )
]

/** Tolerance for different clocks, and for time zones missing from a file. */
const oneDay = 86_400_000

const timeIssues = ({ cancelledAt, fulfilledAt, placedAt, returns }: OrderRecord, now: Date): ReadonlyArray<Issue> =>
  [
    ...Object.entries({ placedAt, fulfilledAt, cancelledAt }),
    ...(returns ?? []).flatMap(({ receivedAt, requestedAt }, index) => [
      [`returns.${index}.requestedAt`, requestedAt] as const,
      [`returns.${index}.receivedAt`, receivedAt] as const
    ])
  ].flatMap(([path, at]) =>
    at !== undefined && at !== null && at.getTime() > now.getTime() + oneDay
      ? [wrong(path, "must not lie in the future.", "future")]
      : []
  )

/** Amounts in minor units. */
const contentOf = (record: OrderRecord, totals: Totals) => {
  // In a fulfilled or refunded order, a line without a status counts as fulfilled.
  const isOver = record.status === "fulfilled" || record.status === "refunded"
  const unsentOfLine: Pick<
    OrderLine,
    | "entityType"
    | "fulfillmentStatus"
    | "listPrice"
    | "metadata"
    | "priceSteps"
    | "refundedQuantity"
    | "sku"
    | "variantTitle"
  > = {
    sku: null,
    variantTitle: null,
    listPrice: null,
    metadata: {},
    priceSteps: [],
    entityType: "product",
    refundedQuantity: 0,
    fulfillmentStatus: isOver ? "fulfilled" : "unfulfilled"
  }
  return {
    ...Struct.pick(record, ["orderNumber", "status", "placedAt", "currency"]),
    ...Struct.pick(totals, ["subtotal", "discountTotal", "shippingTotal", "taxTotal", "taxIncluded", "grandTotal"]),
    ...filled(unsent, record),
    shippingAddress: record.shippingAddress ? givenAddress(record.shippingAddress) : null,
    metadata: { ...record.metadata, ...(record.billingAddress ? { billingAddress: record.billingAddress } : {}) },
    lineItems: Array.zipWith(record.lineItems, totals.lines, (line, sums) => ({
      ...Struct.pick(line, ["title", "quantity", "unitPrice", ...lineDetails]),
      ...Struct.pick(sums, ["totalPrice", "discountAmount", "taxAmount"]),
      ...filled(unsentOfLine, line)
    })),
    returns: returnsContent(record.returns)
  }
}

export type OrderContent = ReturnType<typeof contentOf>

export const orderContent = (record: OrderRecord, now: Date): Result.Result<OrderContent, ReadonlyArray<Issue>> => {
  const totals = totalsOf(record)
  if (Result.isFailure(totals)) return Result.fail([wrong("", totals.failure.message)])
  const issues = [
    ...sumIssues(record, totals.success),
    ...refundIssues(record),
    ...returnIssues(returnsContent(record.returns) ?? [], record.lineItems, wrong),
    ...timeIssues(record, now)
  ]
  return issues.length > 0 ? Result.fail(issues) : Result.succeed(contentOf(record, totals.success))
}

/** As an import keeps it: orders that are older have it as it was sent. */
const addressOf = ({ shippingAddress }: Readonly<Record<string, unknown>>) => ({
  shippingAddress: isStorableObject(shippingAddress) ? givenAddress(shippingAddress) : null
})

const lineContent = ({ options: _, slug: __, ...line }: Readonly<Record<string, unknown>>) => line

const Values = Schema.Record(Schema.String, Schema.Unknown)

export const StoredRecord = Schema.StructWithRest(
  Schema.Struct({
    email: Schema.NullOr(Schema.String),
    lineItems: Schema.Array(Values),
    returns: Schema.NullOr(Schema.Array(Values))
  }),
  [Values]
)

/** A file from before there were returns, or of another system, says nothing about them. */
export const sameOrder = (content: OrderContent, record: typeof StoredRecord.Type): boolean => {
  const { billingAddress: _, customer: __, lineItems, returns: storedReturns, ...stored } = record
  const { lineItems: lines, returns, ...own } = content
  const known = returns === undefined ? [] : storedReturns ?? []
  const texts = Object.entries(own).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value])
  return Equal.equals(
    [
      { ...Object.fromEntries(texts), email: own.email && emailKey(own.email) },
      lines,
      returns?.map(exportedReturn) ?? []
    ],
    [
      { ...stored, email: stored.email && emailKey(stored.email), ...addressOf(stored) },
      lineItems.map(lineContent),
      known
    ]
  )
}
