import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { CheckoutRequest, ShippingAddress } from "./Checkout.ts"

/** Body of `POST /shipping/quotes`: a cart, its destination and the promotion codes of the checkout. */
export const ShippingQuoteRequest = Schema.Struct({
  cartId: Uuid,
  shippingAddress: ShippingAddress,
  promotionCodes: CheckoutRequest.fields.promotionCodes,
  customerId: CheckoutRequest.fields.customerId,
  customerGroupIds: CheckoutRequest.fields.customerGroupIds
})
export type ShippingQuoteRequest = typeof ShippingQuoteRequest.Type

/**
 * Shipping rates of a cart, in minor units of `currency`; first the default of a checkout without `shippingRateId`.
 * `id` and `name` are null when there is one price only. No rates: nothing needs shipping.
 */
export const ShippingQuote = Schema.Struct({
  currency: Schema.String,
  rates: Schema.Array(Schema.Struct({
    id: Schema.NullOr(Schema.String),
    name: Schema.NullOr(Schema.String),
    amount: Schema.Int
  }))
}).annotate({ identifier: "ShippingQuote" })
export type ShippingQuote = typeof ShippingQuote.Type
