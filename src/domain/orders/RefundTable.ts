import { Schema } from "effect"
import { HeldUnits } from "../inventory/StockRules.ts"
import { about } from "../platform/hints/Hints.ts"
import { OrderId, RefundId } from "../platform/ids/Id.ts"
import { Amount } from "../platform/money/Money.ts"
import { Table } from "../platform/records/Table.ts"
import { ShortText, Text } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

export const RefundStatus = Schema.Literals(["pending", "completed", "failed", "undone"]).annotate({
  description:
    "pending: waiting for the provider. failed: the provider refused for good. undone: withdrawn before it was sent."
})

export const GivenOutside = Schema.Struct({
  means: Text.annotate({ description: "Means of the payment.", examples: ["Bank transfer"] }),
  reference: Schema.optional(
    ShortText.annotate({ description: "Number by which the payment is found again.", examples: ["SEPA 2026-0042"] })
  )
}).annotate({
  identifier: "GivenOutside",
  description: "Way by which the money went back without a provider; null: a provider moved it."
})
export type GivenOutside = typeof GivenOutside.Type

/** Amounts in minor units. */
export const StoredRefund = Schema.Struct({
  id: RefundId,
  organizationId: Schema.String,
  orderId: OrderId,
  kind: Schema.Literals(["refund", "return"]).pipe(
    about("return: goods came back. refund: only money went back.")
  ),
  amount: Amount,
  shippingAmount: Amount,
  shippingValue: Amount,
  reason: Schema.String,
  status: RefundStatus,
  providerReference: Schema.NullOr(Schema.String).pipe(
    about("Id of the refund at the provider; null until it is made.")
  ),
  failure: Schema.NullOr(Schema.String).pipe(about("Reason of the last refusal by the provider; null: none.")),
  performedBy: Schema.NullOr(Schema.String).pipe(about("Id of the user or API key that gave it; null: the system.")),
  releasedStock: Schema.Array(HeldUnits),
  sentAt: Schema.NullOr(Time),
  restarts: Schema.Int,
  refusals: Schema.Int,
  undoneAt: Schema.NullOr(Time),
  undoneBy: Schema.NullOr(Schema.String).pipe(about("Id of the user or API key that undid it.")),
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
