import { Schema } from "effect"
import { about } from "../platform/hints/Hints.ts"
import { CompensationFailureId, OrderId, OrganizationId, RefundId } from "../platform/ids/Id.ts"
import { MinorUnits } from "../platform/money/Money.ts"
import { FreeText } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

const CompensationKind = Schema.Literals(["refund_failed", "void_failed"]).annotate({
  description: "refund_failed: money did not go back. void_failed: an authorization may still be open."
})

export const CompensationStatus = Schema.Literals(["open", "retried", "resolved"]).annotate({
  description:
    "open: not handled yet. retried: its step was started again. resolved: an operator settled it in another way."
})

/**
 * A step about money that failed for good (contract §3.8); `amount` in minor units, 0 for a void.
 */
export const CompensationFailure = Schema.Struct({
  id: CompensationFailureId,
  organizationId: OrganizationId,
  kind: CompensationKind,
  status: CompensationStatus,
  orderId: Schema.NullOr(OrderId),
  refundId: Schema.NullOr(RefundId),
  provider: Schema.NullOr(Schema.String).pipe(about("Payment provider; null: the default one.")),
  paymentIntentId: Schema.NullOr(Schema.String),
  amount: MinorUnits,
  message: Schema.String,
  actions: Schema.Array(Schema.Literals(["retry", "resolve"])).pipe(
    about("Possible actions. retry calls the provider again, resolve records that it was settled elsewhere.")
  ),
  note: Schema.NullOr(Schema.String),
  resolvedBy: Schema.NullOr(Schema.String).pipe(about("Id of the user or API key that resolved it.")),
  resolvedAt: Schema.NullOr(Time),
  createdAt: Time
}).annotate({ identifier: "CompensationFailure" })

export const Resolution = Schema.Struct({
  note: Schema.optional(FreeText.check(Schema.isMaxLength(2_000)).annotate({ description: "How it was settled." }))
}).annotate({ identifier: "Resolution" })
