import { Schema } from "effect"
import { HeldUnits } from "../inventory/StockRules.ts"
import { OrderId, RefundId } from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { Table } from "../platform/records/Table.ts"
import { ShortText, Text } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

/**
 * pending: waiting for the provider. failed: the provider refused for good. undone: withdrawn before it was sent to the
 * provider.
 */
export const RefundStatus = Schema.Literals(["pending", "completed", "failed", "undone"])

/** How money went back that no provider moved (contract-commerce §12). */
export const GivenOutside = Schema.Struct({
  means: Text.annotate({ description: "How the money was given back.", examples: ["Bank transfer"] }),
  reference: Schema.optional(
    ShortText.annotate({ description: "How it is found again.", examples: ["SEPA 2026-0042"] })
  )
}).annotate({ identifier: "GivenOutside" })
export type GivenOutside = typeof GivenOutside.Type

/** Amounts in minor units. */
export const StoredRefund = Schema.Struct({
  id: RefundId,
  organizationId: Schema.String,
  orderId: OrderId,
  kind: Schema.Literals(["refund", "return"]),
  amount: Amount,
  shippingAmount: Amount,
  shippingValue: Amount,
  reason: Schema.String,
  status: RefundStatus,
  providerReference: Schema.NullOr(Schema.String),
  failure: Schema.NullOr(Schema.String),
  performedBy: Schema.NullOr(Schema.String),
  releasedStock: Schema.Array(HeldUnits),
  sentAt: Schema.NullOr(Time),
  restarts: Schema.Int,
  refusals: Schema.Int,
  undoneAt: Schema.NullOr(Time),
  undoneBy: Schema.NullOr(Schema.String),
  attempts: Schema.Int,
  nextAttemptAt: Time,
  createdAt: Time,
  updatedAt: Time,
  given: Amount,
  givenOutside: Schema.NullOr(GivenOutside)
})

/** Orders decide refunds and payments settle them, so both write this table. */
export const refunds = new Table("refunds", StoredRefund, {
  unset: [
    "kind",
    "shippingAmount",
    "shippingValue",
    "providerReference",
    "failure",
    "releasedStock",
    "sentAt",
    "restarts",
    "refusals",
    "undoneAt",
    "undoneBy",
    "attempts",
    "nextAttemptAt",
    "createdAt",
    "updatedAt",
    "given",
    "givenOutside"
  ]
})
