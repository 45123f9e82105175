import { Schema, Struct } from "effect"
import { GivenOutside, StoredRefund } from "../orders/RefundTable.ts"
import { notFound } from "../platform/errors/ErrorKinds.ts"
import { about } from "../platform/hints/Hints.ts"
import { OrderId, OrderLineId, OrganizationId, RefundId } from "../platform/ids/Id.ts"
import { Amount, Currency, MinorUnits } from "../platform/money/Money.ts"
import { FreeText } from "../platform/text/Storable.ts"

export const RefundLine = Schema.Struct({
  lineItemId: OrderLineId,
  quantity: Schema.Int,
  amount: Amount,
  restocked: Schema.Int.pipe(about("Units that went back into stock."))
}).annotate({ identifier: "RefundLine" })

export const RefundTender = Schema.Struct({
  method: Schema.String.pipe(about("Payment provider that the money goes back by.")),
  label: Schema.String,
  amount: Amount,
  reference: Schema.NullOr(Schema.String).pipe(about("Id of the refund at the provider; null until it is made.")),
  status: Schema.Literals(["pending", "completed"]).pipe(about("completed: the provider has confirmed it."))
}).annotate({ identifier: "RefundTender" })

/**
 * An entry of the refund ledger (contract §4.3); minor units. `shipping` and the lines' amounts are parts of `amount`.
 * A refund of an amount alone has no parts.
 */
export const RefundRecord = Schema.Struct({
  ...Struct.pick(StoredRefund.fields, ["id", "organizationId", "orderId", "kind", "amount"]),
  currency: Currency,
  shipping: Amount,
  reason: StoredRefund.fields.reason,
  lines: Schema.Array(RefundLine),
  tenders: Schema.Array(RefundTender).annotate({
    description: "Payments of the order that it goes back to; empty for an order that was paid by a single payment."
  }),
  ...Struct.pick(StoredRefund.fields, [
    "status",
    "failure",
    "providerReference",
    "givenOutside",
    "performedBy",
    "undoneAt",
    "undoneBy",
    "createdAt",
    "updatedAt"
  ])
}).annotate({ identifier: "Refund" })
export type RefundRecord = typeof RefundRecord.Type

/** Minor units. */
export const RefundCap = Schema.Struct({
  orderId: OrderId,
  currency: Currency,
  captured: Amount,
  refunded: Amount,
  pending: Amount,
  cap: Amount.annotate({ description: "The most that one more refund can give back." }),
  shipping: Amount.annotate({ description: "Amount that is left of the shipping." }),
  lines: Schema.Array(Schema.Struct({ lineItemId: OrderLineId, quantity: Schema.Int, amount: Amount }))
}).annotate({ identifier: "RefundCap" })
export type RefundCap = typeof RefundCap.Type

/** Minor units of the order's currency. */
const Positive = MinorUnits.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

const Reason = FreeText.check(Schema.isMaxLength(2_000)).annotate({ description: "Why; it is passed to the provider." })

const outside = Schema.optional(
  GivenOutside.pipe(about("The money was given back another way: it is recorded, and no provider is asked."))
)

export const AmountRefund = Schema.Struct({
  amount: Schema.optional(Positive.annotate({ description: "Minor units. Default: everything that is left." })),
  reason: Schema.optional(Reason),
  givenOutside: outside
}).annotate({ identifier: "AmountRefund" })

const RequestedLine = Schema.Struct({
  lineItemId: OrderLineId,
  quantity: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 })),
  restock: Schema.optional(Schema.Boolean.annotate({ description: "For this line; default: that of the request." }))
})

export const RefundRequest = Schema.Struct({
  lines: Schema.optional(Schema.Array(RequestedLine).check(Schema.isBetweenLength(1, 1_000))),
  shipping: Schema.optional(
    Schema.Union([Schema.Boolean, Positive]).annotate({
      description: "Minor units of the shipping, or true for what is left of it."
    })
  ),
  amount: Schema.optional(
    Positive.annotate({ description: "Minor units. Beside lines or shipping: at most what they are worth." })
  ),
  fee: Schema.optional(
    Positive.annotate({
      description: "Minor units that are kept back of what lines and shipping are worth, such as a restocking fee."
    })
  ),
  reason: Schema.optional(Reason),
  givenOutside: outside,
  restock: Schema.optional(
    Schema.Boolean.annotate({ description: "Units that were handed over go back into stock. Default false." })
  )
}).annotate({ identifier: "RefundRequest" })
export type RefundRequest = typeof RefundRequest.Type

/** A refund of 0 minor units voids an authorization that was never captured. */
export const Refund = Schema.Struct({
  ...Struct.pick(RefundRecord.fields, ["id", "orderId", "amount", "reason", "status"]),
  refusals: Schema.Int,
  intentId: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  /** Null for a single payment. `amount` is the part of this refund. */
  tenders: Schema.NullOr(Schema.Array(Schema.Struct({
    position: Schema.Int,
    provider: Schema.String,
    intentId: Schema.String,
    amount: Amount,
    isGiven: Schema.Boolean
  })))
})
export type Refund = typeof Refund.Type

export const PendingRefund = Schema.Struct({
  refundId: RefundId,
  organizationId: OrganizationId,
  restarts: Schema.optional(Schema.Int)
})
export type PendingRefund = typeof PendingRefund.Type

/** The same until the provider refuses, so a retry never refunds twice. */
export const refundKey = ({ id, refusals }: Refund): string => refusals === 0 ? id : `${id}:${refusals}`

export class RefundNotFound extends notFound("Refund", "Refund not found.") {}
