import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { Order } from "../orders/Order.ts"
import { BreakdownStep } from "../pricing/PriceResolution.ts"
import { FreeText, ShopperObject, ShortText, Text } from "../text/Storable.ts"

/** Where the goods go; kept with the order (contract §3.1). */
export const ShippingAddress = Schema.Struct({
  line1: Text,
  line2: Schema.optional(Schema.NullOr(ShortText)),
  city: Text,
  state: Schema.optional(Schema.NullOr(ShortText)),
  postalCode: Text,
  country: Text
})
export type ShippingAddress = typeof ShippingAddress.Type

/**
 * Body of `POST /checkout` (spec §4, contract §3.1). `paymentMethodId` names a method or provider of the deployment, or
 * is a token for the default one. `customerGroupIds` and `customerId` count only for actors with `customers:read`.
 * `shippingRateId` is one of the rates that `POST /shipping/quotes` offers for the cart and the address.
 */
export const CheckoutRequest = Schema.Struct({
  cartId: Uuid,
  paymentMethodId: Text,
  paymentMethodToken: Schema.optional(FreeText.check(Schema.isMinLength(3), Schema.isMaxLength(255))),
  currency: CurrencyCode,
  customerId: Schema.optional(Schema.NullOr(ShortText)),
  customerGroupIds: Schema.optional(Schema.Array(ShortText).check(Schema.isMaxLength(100))),
  promotionCodes: Schema.optional(Schema.Array(ShortText).check(Schema.isMaxLength(50))),
  shippingAddress: Schema.optional(Schema.NullOr(ShippingAddress)),
  shippingRateId: Schema.optional(Schema.NullOr(Text)),
  idempotencyKey: Schema.optional(FreeText.check(Schema.isMinLength(8), Schema.isMaxLength(255))),
  metadata: Schema.optional(ShopperObject)
})
export type CheckoutRequest = typeof CheckoutRequest.Type

const Minor = Schema.Int

/** A line of the priced cart: what is sold, at which price, with its share of discount and tax. Minor units. */
export const PricedCartLine = Schema.Struct({
  id: Uuid,
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
  /** The price row behind `unitPrice`, null for the entity's own base price, and what modifiers made of it. */
  basePriceId: Schema.optional(Schema.NullOr(Schema.String)),
  priceSteps: Schema.optional(Schema.Array(BreakdownStep)),
  /** The unit price was given by staff, and so was this part of `discountAmount`. */
  isCustomPrice: Schema.optional(Schema.Boolean),
  manualDiscount: Schema.optional(Minor)
})
export type PricedCartLine = typeof PricedCartLine.Type

/** A promotion as it was applied; `perCustomer` is its limit for one customer, guarded again when the order is placed. */
export const PricedCartPromotion = Schema.Struct({
  promotionId: Uuid,
  code: Schema.NullOr(Schema.String),
  type: Schema.String,
  discountAmount: Minor,
  freeShipping: Schema.Boolean,
  description: Schema.String,
  perCustomer: Schema.NullOr(Schema.Int)
})

/**
 * What a checkout decided before it asked for money. Pinned beside its stock hold in one statement, and read from there
 * when the checkout runs again after a crash: a price that changed meanwhile must not change what was authorized.
 * It lies on disk, so new fields are optional with a default.
 */
export const PricedCart = Schema.Struct({
  currency: Schema.String,
  customerId: Schema.NullOr(Uuid),
  cartSecretHash: Schema.String,
  lines: Schema.Array(PricedCartLine),
  promotions: Schema.Array(PricedCartPromotion),
  rejectedCodes: Schema.Array(Schema.Struct({ code: Schema.String, reason: Schema.String })),
  subtotal: Minor,
  discountTotal: Minor,
  taxTotal: Minor,
  shippingTotal: Minor,
  grandTotal: Minor,
  /** Groups the prices and promotions were decided for. */
  customerGroupIds: Schema.optional(Schema.Array(Schema.String)),
  /** The prices contain the tax. Absent in priced carts of older versions: they do not. */
  taxIncluded: Schema.optional(Schema.Boolean),
  /** The tax adapter that has to hear of the order; absent when the store's own rules said the tax. */
  taxProvider: Schema.optional(Schema.String),
  /** Name and id of the rate that `shippingTotal` comes from; absent or null where there was none to choose. */
  shippingMethod: Schema.optional(Schema.NullOr(Schema.String)),
  shippingRateId: Schema.optional(Schema.NullOr(Schema.String)),
  /** The provider that is asked for the money. */
  paymentProvider: Schema.optional(Schema.String),
  metadata: Schema.Record(Schema.String, Schema.Unknown)
})
export type PricedCart = typeof PricedCart.Type

/** The answer of a checkout: the order, and what the shopper should know beside it (contract §3.1). */
export const CheckoutAnswer = Schema.Struct({
  data: Schema.Struct({ ...Order.fields, paymentClientSecret: Schema.optional(Schema.String) }),
  meta: Schema.optional(Schema.Struct({
    hookErrors: Schema.optional(Schema.Array(Schema.Struct({ hookName: Schema.String, message: Schema.String }))),
    rejectedPromotionCodes: Schema.optional(Schema.Array(Schema.Struct({ code: Schema.String, reason: Schema.String })))
  }))
}).annotate({ identifier: "CheckoutAnswer" })
