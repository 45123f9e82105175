import { Schema } from "effect"
import { IdempotencyKey } from "../idempotency/IdempotencyKey.ts"
import { Uuid } from "../ids/Id.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { Amount, maybe } from "../pricing/Bounds.ts"
import { keyText } from "../text/Storable.ts"
import { CheckoutRequest } from "./Checkout.ts"

/** As many of a thing as a cart takes (contract §2). */
export const LineQuantity = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9999 }))

/** What only `orders:manage` may say of a line; amounts in minor units. */
export const lineMoney = {
  isCustomPrice: Schema.optional(
    Schema.Boolean.annotate({ description: "unitPrice counts and not the catalog. Needs orders:manage." })
  ),
  unitPrice: maybe(Amount.annotate({ description: "Counts only with isCustomPrice: true." })),
  discountAmount: maybe(Amount.annotate({ description: "Off the whole line, at most all of it. Needs orders:manage." }))
}

/** A line of a quote, of a manual order, or to be put into one (contract §3.8, §4.4). */
export const LineRequest = Schema.Struct({
  entityId: Uuid,
  variantId: maybe(Uuid),
  quantity: LineQuantity,
  ...lineMoney
}).annotate({ identifier: "OrderLineRequest" })
export type LineRequest = typeof LineRequest.Type

/** A change of a line; what is left out stays. A new quantity asks the catalog again, unless the price is staff's own. */
export const LineChange = Schema.Struct({ quantity: Schema.optional(LineQuantity), ...lineMoney }).annotate({
  identifier: "OrderLineChange"
})
export type LineChange = typeof LineChange.Type

const { customerGroupIds, customerId, metadata, promotionCodes, shippingAddress, shippingRateId } =
  CheckoutRequest.fields

/** A thousand things are no order that a person writes. */
const LineRequests = Schema.Array(LineRequest).check(Schema.isBetweenLength(1, 500))

/**
 * Body of `POST /orders/quote` (contract §3.8): the lines, or a cart that has them. `customerId` and `customerGroupIds`
 * count only for actors with `customers:read`, as at checkout.
 */
export const QuoteRequest = Schema.Struct({
  cartId: Schema.optional(Uuid),
  currency: CurrencyCode,
  lineItems: Schema.optional(LineRequests),
  customerId,
  customerGroupIds,
  promotionCodes,
  shippingAddress,
  shippingRateId
}).annotate({ identifier: "QuoteRequest" })
export type QuoteRequest = typeof QuoteRequest.Type

/** Body of `POST /orders` (contract §4.4). Totals in it are not read: they are made from the lines. */
export const ManualOrderRequest = Schema.Struct({
  currency: CurrencyCode,
  lineItems: LineRequests,
  customerId,
  customerGroupIds,
  email: maybe(keyText(320).check(Schema.isPattern(/^[^\s@]+@[^\s@]+$/))),
  promotionCodes,
  shippingAddress,
  shippingRateId,
  metadata,
  idempotencyKey: Schema.optional(IdempotencyKey),
  note: maybe(keyText(10_000).annotate({ description: "Kept as an internal note of the order." })),
  draft: Schema.optional(
    Schema.Boolean.annotate({ description: "Nobody is told by mail, and the order waits for as long as it takes." })
  )
}).annotate({ identifier: "ManualOrder" })
export type ManualOrderRequest = typeof ManualOrderRequest.Type

const Minor = Schema.Int

/** What lines would cost now; nothing is stored and no stock is held. Amounts in minor units of `currency`. */
export const Quote = Schema.Struct({
  currency: Schema.String,
  subtotal: Minor,
  discountTotal: Minor,
  shippingTotal: Minor,
  taxTotal: Minor,
  /** The prices contain the tax, so that it is no part of the sum. */
  taxIncluded: Schema.Boolean,
  grandTotal: Minor,
  lineItems: Schema.Array(Schema.Struct({
    entityId: Uuid,
    entityType: Schema.String,
    variantId: Schema.NullOr(Uuid),
    sku: Schema.NullOr(Schema.String),
    title: Schema.String,
    quantity: Schema.Int,
    unitPrice: Minor,
    totalPrice: Minor,
    discountAmount: Minor,
    taxAmount: Minor,
    isCustomPrice: Schema.Boolean
  })),
  appliedPromotions: Schema.Array(Schema.Struct({
    promotionId: Uuid,
    code: Schema.NullOr(Schema.String),
    type: Schema.String,
    discountAmount: Minor,
    freeShipping: Schema.Boolean,
    description: Schema.String
  })),
  rejectedPromotionCodes: Schema.Array(Schema.Struct({ code: Schema.String, reason: Schema.String }))
}).annotate({ identifier: "Quote" })
export type Quote = typeof Quote.Type
