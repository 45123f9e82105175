import { Effect, Schema } from "effect"
import type { PricingRequest } from "../../domain/checkout/Basket.ts"
import type { PricedCart, PricedCartLine } from "../../domain/checkout/Checkout.ts"
import type { CheckoutData } from "../../domain/checkout/CheckoutData.ts"
import { CheckoutFailed, type ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import { HookBroken } from "../../domain/hooks/Hook.ts"
import { Hooks } from "../../domain/hooks/Hooks.ts"
import type { Order } from "../../domain/orders/Order.ts"
import type { PaymentIntent } from "../../domain/payments/PaymentAdapter.ts"
import { firstStep } from "../../domain/pricing/PriceResolution.ts"
import { StorableObject } from "../../domain/text/Storable.ts"
import type { CheckoutPayload } from "./CheckoutWorkflow.ts"

/** How the unit price of a line came about, in minor units (contract §0.5). */
const priceBreakdown = ({ basePriceId, priceSteps = [], unitPrice }: PricedCartLine) => [
  firstStep(priceSteps[0]?.amountBefore ?? unitPrice, basePriceId ?? null),
  ...priceSteps
]

/** Whose order it is and what was asked for, beside what was decided. */
type Asked =
  & Pick<CheckoutData, "cartId" | "idempotencyKey" | "orderId" | "paymentMethodId" | "paymentMethodToken">
  & { readonly request: PricingRequest }

const hookData = ({ orderId, request, ...asked }: Asked, pricedCart: PricedCart): CheckoutData => ({
  ...asked,
  checkoutId: orderId,
  orderId,
  customerId: pricedCart.customerId,
  customerGroupIds: pricedCart.customerGroupIds ?? [],
  currency: pricedCart.currency,
  lineItems: pricedCart.lines.map((line) => ({
    ...line,
    resolvedUnitPrice: line.unitPrice,
    resolvedTotal: line.totalPrice,
    priceBreakdown: priceBreakdown(line)
  })),
  subtotal: pricedCart.subtotal,
  discountTotal: pricedCart.discountTotal,
  taxTotal: pricedCart.taxTotal,
  taxIncluded: pricedCart.taxIncluded ?? false,
  shippingTotal: pricedCart.shippingTotal,
  total: pricedCart.grandTotal,
  promotionCodes: request.promotionCodes ?? [],
  appliedPromotions: pricedCart.promotions,
  freeShipping: pricedCart.promotions.some((one) => one.freeShipping),
  shippingAddress: request.shippingAddress ?? null,
  shippingMethod: pricedCart.shippingMethod ?? null,
  metadata: pricedCart.metadata
})

const checkoutData = ({ checkoutId, idempotencyKey, request }: CheckoutPayload, pricedCart: PricedCart): CheckoutData =>
  hookData({
    orderId: checkoutId,
    cartId: request.cartId,
    paymentMethodId: request.paymentMethodId,
    paymentMethodToken: request.paymentMethodToken ?? null,
    idempotencyKey,
    request
  }, pricedCart)

/**
 * A refusal of a hook reaches the shopper with its words, a broken hook without any. Both fail the checkout: as a defect
 * it would be repeated for as long as the hook is broken, and keep the cart.
 */
const asked = <A, R>(hooks: Effect.Effect<A, ValidationFailed, R>) =>
  hooks.pipe(
    Effect.mapError((error) => CheckoutFailed.of(error.error.message)),
    Effect.catchDefect((defect) =>
      defect instanceof HookBroken
        ? Effect.andThen(
          Effect.logError("a checkout failed at a broken hook", defect),
          Effect.fail(CheckoutFailed.of("The checkout could not be completed. Try again later."))
        )
        : Effect.die(defect)
    )
  )

const isStorable = Schema.is(StorableObject)
const readStored = Schema.decodeEffect(Schema.fromJsonString(StorableObject))

/**
 * What no table can hold would fail every repetition of the checkout alike, and keep its cart and its money for ever:
 * the hook refuses it, whether it knows or not. From here on the metadata is what will be read back.
 */
const storable = (metadata: unknown) => {
  const refusal = CheckoutFailed.of("A hook of the checkout gave metadata that cannot be stored.")
  return isStorable(metadata)
    ? Effect.mapError(readStored(JSON.stringify(metadata)), () => refusal)
    : Effect.fail(refusal)
}

/** Asks `checkout.beforePayment`, after the totals and before any money. The answer carries the hooks' metadata. */
export const beforePayment = Effect.fn("Checkout.beforePayment")(
  function*(payload: CheckoutPayload, pricedCart: PricedCart) {
    const hooked = yield* asked((yield* Hooks).before("checkout.beforePayment", checkoutData(payload, pricedCart)))
    return { ...pricedCart, metadata: yield* storable(hooked.metadata) }
  }
)

/** Asks `checkout.beforeCreate` and `orders.beforeCreate`, after the authorization and before the order. */
export const beforeCreate = Effect.fn("Checkout.beforeCreate")(function*(
  payload: CheckoutPayload,
  pricedCart: PricedCart,
  { clientSecret, id }: PaymentIntent
) {
  const hooks = yield* Hooks
  const data: CheckoutData = {
    ...checkoutData(payload, pricedCart),
    paymentIntentId: id,
    paymentClientSecret: clientSecret
  }
  const hooked = yield* asked(
    Effect.flatMap(
      hooks.before("checkout.beforeCreate", data),
      (changed) => hooks.before("orders.beforeCreate", changed)
    )
  )
  return { ...pricedCart, metadata: yield* storable(hooked.metadata) }
})

/** Asks `orders.beforeCreate` about an order that staff writes. The answer carries the hooks' metadata. */
export const beforeManualOrder = Effect.fn("ManualOrders.beforeCreate")(
  function*(orderId: string, request: PricingRequest, pricedCart: PricedCart) {
    const nobody = { cartId: null, paymentMethodId: null, paymentMethodToken: null, idempotencyKey: null }
    const data = hookData({ ...nobody, orderId, request }, pricedCart)
    const hooked = yield* asked((yield* Hooks).before("orders.beforeCreate", data))
    return { ...pricedCart, metadata: yield* storable(hooked.metadata) }
  }
)

/**
 * After the order is placed nothing may fail it any more: hooks report, they do not decide (contract §0.5). Those of the
 * order's creation run before the money is taken (contract §3.2, 11), so that they know of every order that is cancelled.
 */
export const afterOrder = (order: Order) => Effect.flatMap(Hooks, (hooks) => hooks.after("orders.afterCreate", order))

/** Reports the end of the checkout to `checkout.afterCreate`; gives what its handlers failed with. */
export const afterCheckout = (order: Order) =>
  Effect.flatMap(Hooks, (hooks) => hooks.after("checkout.afterCreate", order))
