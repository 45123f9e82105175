import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { CheckoutRequest, ShippingAddress } from "./Checkout.ts"

/** Body of `POST /shipping/quotes`: a cart, where it shall go, and the codes the checkout will send. */
export const ShippingQuoteRequest = Schema.Struct({
  cartId: Uuid,
  shippingAddress: ShippingAddress,
  promotionCodes: CheckoutRequest.fields.promotionCodes,
  customerId: CheckoutRequest.fields.customerId,
  customerGroupIds: CheckoutRequest.fields.customerGroupIds
})
export type ShippingQuoteRequest = typeof ShippingQuoteRequest.Type

/**
 * The ways a cart may be shipped, in minor units of `currency`; the one that a checkout takes without `shippingRateId`
 * first. `id` and `name` are null where there is one price and nothing to choose. No rates at all: nothing has to be
 * carried.
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
