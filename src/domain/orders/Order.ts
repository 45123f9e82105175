import { Effect, Schema } from "effect"
import { isUuid, Uuid } from "../ids/Id.ts"
import { OrderStatus } from "./OrderStatus.ts"

const Time = Schema.Date.annotate({ format: "date-time" })
const Metadata = Schema.Record(Schema.String, Schema.Unknown)

/** Minor units of the order's currency. */
const Amount = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

/** How much of a line has been handed over (contract §4). */
export const LineFulfillment = Schema.Literals(["unfulfilled", "partial", "fulfilled"])

/**
 * One line of an order; sku and title as they were at the purchase. The lines' totals, discounts and taxes add up to
 * the order's (contract §4, §3.3).
 */
export const OrderLine = Schema.Struct({
  id: Uuid,
  orderId: Uuid,
  entityId: Uuid,
  entityType: Schema.String,
  variantId: Schema.NullOr(Uuid),
  sku: Schema.NullOr(Schema.String),
  title: Schema.String,
  quantity: Schema.Int,
  unitPrice: Amount,
  totalPrice: Amount,
  isCustomPrice: Schema.Boolean,
  taxAmount: Amount,
  discountAmount: Amount,
  refundedQuantity: Schema.Int,
  fulfillmentStatus: LineFulfillment,
  metadata: Metadata
}).annotate({ identifier: "OrderLine" })
export type OrderLine = typeof OrderLine.Type

/** Shipping address as the shopper entered it. */
export const ShippingAddress = Schema.Record(Schema.String, Schema.Unknown)

/**
 * An order with its lines (spec §2, contract §4). grandTotal = subtotal - discountTotal + shippingTotal, plus taxTotal
 * if prices exclude tax. `amountCaptured` is null before the capture; `refundedTotal` is what the provider has
 * confirmed as refunded.
 */
export const Order = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  orderNumber: Schema.String,
  customerId: Schema.NullOr(Uuid),
  status: OrderStatus,
  currency: Schema.String,
  subtotal: Amount,
  taxTotal: Amount,
  /** The prices contain the tax, so it is a part of the grand total and not added to it; false in older records. */
  taxIncluded: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  shippingTotal: Amount,
  discountTotal: Amount,
  grandTotal: Amount,
  amountCaptured: Schema.NullOr(Amount),
  refundedTotal: Amount,
  paymentIntentId: Schema.NullOr(Schema.String),
  paymentMethodId: Schema.NullOr(Schema.String),
  idempotencyKey: Schema.NullOr(Schema.String),
  shippingAddress: Schema.NullOr(ShippingAddress),
  metadata: Metadata,
  /** Staff still writes it; absent of every other order (docs/orders.md). */
  isDraft: Schema.optional(Schema.Boolean),
  /** Time of the import from another system; absent for orders created here (docs/import-export.md). */
  importedAt: Schema.optional(Time),
  placedAt: Time,
  updatedAt: Time,
  fulfilledAt: Schema.NullOr(Time),
  cancelledAt: Schema.NullOr(Time),
  lineItems: Schema.Array(OrderLine)
}).annotate({ identifier: "Order" })
export type Order = typeof Order.Type

/** Whether the full captured amount has been refunded. */
export const isRefundedInFull = ({ amountCaptured, refundedTotal }: Order): boolean =>
  refundedTotal > 0 && refundedTotal === amountCaptured

/** Form of an order number: `ORD-YYYY-NNNNNN`, growing past six digits (spec §2), or as another system wrote it. */
const numberPattern = /^[A-Za-z0-9#][A-Za-z0-9 ._#-]{0,63}$/

/** Tells an order number from an id or nonsense. */
export const isOrderNumber = (value: string): boolean => numberPattern.test(value) && !isUuid(value)

/** The number of the n-th order of an organization in a year. */
export const orderNumber = (year: number, sequence: number): string =>
  `ORD-${String(year).padStart(4, "0")}-${String(sequence).padStart(6, "0")}`

/** An order and what decides who may see it and who moved its money. */
export interface StoredOrder {
  readonly order: Order
  /** User whose profile the order belongs to; null for a guest's order. */
  readonly ownerUserId: string | null
  /** The cart the order was created from. */
  readonly cartId: string | null
  /** SHA-256 of the secret of that cart. */
  readonly cartSecretHash: string | null
  /** Provider that authorized the payment. */
  readonly paymentProvider: string | null
  /** Tax adapter that taxed the order; null if the store's rules did. */
  readonly taxProvider: string | null
}
