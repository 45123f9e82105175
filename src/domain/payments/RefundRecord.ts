import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { Amount, Time } from "../pricing/Bounds.ts"

/**
 * pending: waiting for the provider. completed: the money is refunded. failed: the provider refused for good. undone:
 * withdrawn before it was sent to the provider.
 */
export const RefundStatus = Schema.Literals(["pending", "completed", "failed", "undone"])

/** Units of a line in a refund; `restocked` of them were put back into stock. Amounts in minor units. */
export const RefundLine = Schema.Struct({
  lineItemId: Uuid,
  quantity: Schema.Int,
  amount: Amount,
  restocked: Schema.Int
}).annotate({ identifier: "RefundLine" })

/**
 * An entry of the refund ledger (contract §4.3); amounts in minor units of the order's currency. `amount` is the total;
 * `shipping` and the lines' amounts are parts of it. A refund of an amount alone has no parts.
 */
export const RefundRecord = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  orderId: Uuid,
  kind: Schema.Literals(["refund", "return"]),
  amount: Amount,
  currency: Schema.String,
  shipping: Amount,
  reason: Schema.String,
  lines: Schema.Array(RefundLine),
  status: RefundStatus,
  failure: Schema.NullOr(Schema.String),
  providerReference: Schema.NullOr(Schema.String),
  performedBy: Schema.NullOr(Schema.String),
  undoneAt: Schema.NullOr(Time),
  undoneBy: Schema.NullOr(Schema.String),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "Refund" })
export type RefundRecord = typeof RefundRecord.Type

/** What can still be given back of an order; amounts in minor units. */
export const RefundCap = Schema.Struct({
  orderId: Uuid,
  currency: Schema.String,
  captured: Amount,
  refunded: Amount,
  pending: Amount,
  cap: Amount.annotate({ description: "The most that one more refund can give back." }),
  shipping: Amount.annotate({ description: "What is left of the shipping." }),
  lines: Schema.Array(Schema.Struct({ lineItemId: Uuid, quantity: Schema.Int, amount: Amount }))
}).annotate({ identifier: "RefundCap" })
export type RefundCap = typeof RefundCap.Type
