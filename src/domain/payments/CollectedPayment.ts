import { Schema } from "effect"
import { CollectedPaymentId, CustomerId, OrderId } from "../platform/ids/Id.ts"
import { Amount, CurrencyCode } from "../platform/money/Money.ts"
import { Table } from "../platform/records/Table.ts"
import { ShortText, Text } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

/** A payment that is collected before its order exists: at a till, or in instalments. Minor units of `currency`. */
export const CollectRequest = Schema.Struct({
  /** The key of the caller's payment: the same one returns the same payment and takes no money again. */
  key: ShortText,
  /** A provider of the deployment or of a plugin. */
  method: Text,
  /** The instrument, such as the code of a gift card; it is concealed before it is stored. */
  token: Schema.NullOr(Text),
  amount: Amount.check(Schema.isGreaterThan(0)),
  /** The most that an instrument takes whose goods are not taxed again (`singlePurpose`). Default: `amount`. */
  untaxedAmount: Schema.optional(Amount),
  currency: CurrencyCode,
  /** The order that it will pay: `orders.soldId`. */
  orderId: OrderId,
  customerId: Schema.optional(Schema.NullOr(CustomerId)),
  /** Hours until a payment that no order has claimed is given back. Default 48. */
  claimHours: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 8_760 })))
})
export type CollectRequest = typeof CollectRequest.Type

/**
 * pending: the provider has not answered. collected: the money is here. claimed: its order exists. declined: nothing was
 * taken. returning, returned: given back. stuck: the provider never answered; a failed compensation says so.
 */
const Status = Schema.Literals(["pending", "collected", "claimed", "declined", "returning", "returned", "stuck"])

export const CollectedPayment = Schema.Struct({
  id: CollectedPaymentId,
  organizationId: Schema.String,
  key: Schema.String,
  provider: Schema.String,
  /** Concealed, and dropped once the payment has ended. */
  token: Schema.NullOr(Schema.String),
  label: Schema.String,
  /** The instrument may pay less than was asked for. */
  amount: Amount,
  currency: CurrencyCode,
  orderId: OrderId,
  customerId: Schema.NullOr(CustomerId),
  /** Its goods are not taxed again (contract-commerce §2). */
  singlePurpose: Schema.Boolean,
  intentId: Schema.NullOr(Schema.String),
  status: Status,
  /** Why it was declined, for the shopper. */
  failure: Schema.NullOr(Schema.String),
  /** When it is given back unless claimed; while it is returning: when the provider is asked again. */
  dueAt: Time,
  createdAt: Time,
  updatedAt: Time
})
export type CollectedPayment = typeof CollectedPayment.Type

export const collectedPayments = new Table("collected_payments", CollectedPayment, {
  unset: ["intentId", "status", "failure", "createdAt", "updatedAt"]
})
