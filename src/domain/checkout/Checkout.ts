import { Effect, Schema, Struct } from "effect"
import { Uuid } from "../ids/Id.ts"
import { CurrencyCode } from "../money/Currency.ts"
import { Order } from "../orders/Order.ts"
import { BreakdownStep } from "../pricing/PriceResolution.ts"
import { FreeText, ShopperObject, ShortText, Text } from "../text/Storable.ts"

/** Delivery address; stored with the order (contract §3.1). */
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
 * is a token for the default one. `customerGroupIds` and `customerId` need `customers:read`. `shippingRateId` comes from
 * `POST /shipping/quotes`.
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

/** A priced line with its share of discount and tax. Minor units. */
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
  /** The price row of `unitPrice`, null for the entity's base price, and the steps of its modifiers. */
  basePriceId: Schema.optional(Schema.NullOr(Schema.String)),
  priceSteps: Schema.optional(Schema.Array(BreakdownStep)),
  /** Staff set the unit price; `manualDiscount` is their part of `discountAmount`. */
  isCustomPrice: Schema.optional(Schema.Boolean),
  manualDiscount: Schema.optional(Minor)
})
export type PricedCartLine = typeof PricedCartLine.Type

/** An applied promotion; creating the order checks `perCustomer`, its limit for one customer, again. */
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
 * The prices of a checkout. Stored with its stock reservation and read again after a crash: a later price change must not
 * change the authorized amount. New fields are optional with a default, because older values are stored.
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
  /** Customer groups that the prices and promotions are for. */
  customerGroupIds: Schema.optional(Schema.Array(Schema.String)),
  /** Prices contain the tax. Absent, in older values: false. */
  taxIncluded: Schema.optional(Schema.Boolean),
  /** The tax adapter that must receive the order; absent when the store's rules decided the tax. */
  taxProvider: Schema.optional(Schema.String),
  /** Name and id of the rate of `shippingTotal`; absent or null without a choice of rates. */
  shippingMethod: Schema.optional(Schema.NullOr(Schema.String)),
  shippingRateId: Schema.optional(Schema.NullOr(Schema.String)),
  paymentProvider: Schema.optional(Schema.String),
  metadata: Schema.Record(Schema.String, Schema.Unknown)
})
export type PricedCart = typeof PricedCart.Type

const StoredPricedCart = Schema.fromJsonString(Schema.toCodecJson(PricedCart))
const encode = Schema.encodeEffect(StoredPricedCart)
const decode = Schema.decodeEffect(StoredPricedCart)

/** Encodes a priced cart for storage; dies if it cannot be encoded. */
export const encodePricedCart = (pricedCart: PricedCart): Effect.Effect<string> =>
  Effect.catch(encode(pricedCart), Effect.die)

/** Decodes a priced cart stored by this or an older version. */
export const decodePricedCart = (stored: string): Effect.Effect<PricedCart> => Effect.catch(decode(stored), Effect.die)

/** The totals of a priced cart, as its order and its quote carry them. */
export const totalsOf = (pricedCart: PricedCart) => ({
  ...Struct.pick(pricedCart, ["subtotal", "discountTotal", "taxTotal", "shippingTotal", "grandTotal"]),
  taxIncluded: pricedCart.taxIncluded ?? false
})

/** The response of a checkout (contract §3.1). */
export const CheckoutAnswer = Schema.Struct({
  data: Schema.Struct({ ...Order.fields, paymentClientSecret: Schema.optional(Schema.String) }),
  meta: Schema.optional(Schema.Struct({
    hookErrors: Schema.optional(Schema.Array(Schema.Struct({ hookName: Schema.String, message: Schema.String }))),
    rejectedPromotionCodes: Schema.optional(Schema.Array(Schema.Struct({ code: Schema.String, reason: Schema.String })))
  }))
}).annotate({ identifier: "CheckoutAnswer" })
