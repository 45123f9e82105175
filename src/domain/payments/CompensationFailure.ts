import { Schema } from "effect"
import { CompensationFailureId, OrderId, OrganizationId, RefundId } from "../platform/ids/Id.ts"
import { MinorUnits } from "../platform/money/Money.ts"
import { FreeText } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

/** refund_failed: money that did not go back. void_failed: an authorization that may still be open. */
const CompensationKind = Schema.Literals(["refund_failed", "void_failed"])

/** open: not handled yet. retried: its step was started again. resolved: an operator settled it in another way. */
export const CompensationStatus = Schema.Literals(["open", "retried", "resolved"])

/**
 * A step about money that failed for good (contract §3.8); `amount` in minor units, 0 for a void. `retry` calls the
 * provider again, `resolve` records that it was settled elsewhere.
 */
export const CompensationFailure = Schema.Struct({
  id: CompensationFailureId,
  organizationId: OrganizationId,
  kind: CompensationKind,
  status: CompensationStatus,
  orderId: Schema.NullOr(OrderId),
  refundId: Schema.NullOr(RefundId),
  provider: Schema.NullOr(Schema.String),
  paymentIntentId: Schema.NullOr(Schema.String),
  amount: MinorUnits,
  message: Schema.String,
  actions: Schema.Array(Schema.Literals(["retry", "resolve"])),
  note: Schema.NullOr(Schema.String),
  resolvedBy: Schema.NullOr(Schema.String),
  resolvedAt: Schema.NullOr(Time),
  createdAt: Time
}).annotate({ identifier: "CompensationFailure" })

export const Resolution = Schema.Struct({
  note: Schema.optional(FreeText.check(Schema.isMaxLength(2_000)).annotate({ description: "How it was settled." }))
}).annotate({ identifier: "Resolution" })
