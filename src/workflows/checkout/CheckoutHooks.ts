import { Effect, Schema } from "effect"
import {
  type CheckoutData,
  type PricedCart,
  type PricedCartLine,
  type PricingRequest,
  totalsOf
} from "../../domain/checkout/PricedCart.ts"
import { refusedLine } from "../../domain/checkout/PricedLines.ts"
import type { Order } from "../../domain/orders/Order.ts"
import type { PaymentIntent } from "../../domain/payments/PaymentAdapter.ts"
import { CheckoutFailed, outOfService, type ValidationFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { HookBroken } from "../../domain/platform/hooks/Hook.ts"
import { Hooks } from "../../domain/platform/hooks/Hooks.ts"
import type { OrderId } from "../../domain/platform/ids/Id.ts"
import { StorableObject } from "../../domain/platform/text/Storable.ts"
import { firstStep } from "../../domain/pricing/PriceResolution.ts"
import { perUnit } from "../../domain/pricing/PriceSteps.ts"
import type { CheckoutPayload, CheckoutRun } from "./CheckoutWorkflow.ts"

const priceBreakdown = ({ addedSteps = [], basePriceId, priceSteps = [], unitPrice }: PricedCartLine) => {
  const added = addedSteps.filter(({ amountPerUnit }) => amountPerUnit !== undefined)
  const catalog = unitPrice - perUnit(added)
  return [
    firstStep(priceSteps[0]?.amountBefore ?? catalog, basePriceId ?? null),
    ...priceSteps,
    ...added.map(({ amountPerUnit: delta = 0, code, label }, index) => {
      const amountBefore = catalog + perUnit(added.slice(0, index))
      return { label, amountBefore, delta, amountAfter: amountBefore + delta, metadata: { code } }
    })
  ]
}

type RequestData =
  & Pick<CheckoutData, "cartId" | "idempotencyKey" | "orderId" | "paymentMethodId" | "paymentMethodToken">
  & { readonly request: PricingRequest }

const hookData = ({ orderId, request, ...rest }: RequestData, pricedCart: PricedCart): CheckoutData => {
  const { grandTotal, ...totals } = totalsOf(pricedCart)
  return {
    ...rest,
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
    ...totals,
    total: grandTotal,
    promotionCodes: request.promotionCodes ?? [],
    appliedPromotions: pricedCart.promotions,
    freeShipping: pricedCart.promotions.some((one) => one.freeShipping),
    shippingAddress: request.shippingAddress ?? null,
    shippingMethod: pricedCart.shippingMethod ?? null,
    metadata: pricedCart.metadata
  }
}

const checkoutData = ({ checkoutId, idempotencyKey, request }: CheckoutPayload, pricedCart: PricedCart): CheckoutData =>
  hookData({
    orderId: checkoutId,
    cartId: request.cartId,
    paymentMethodId: request.paymentMethodId,
    paymentMethodToken: request.paymentMethodToken ?? null,
    idempotencyKey,
    request
  }, pricedCart)

/** Lines with their items of the cart. */
type NamedLines = ReadonlyArray<Parameters<typeof refusedLine>[0]>

/** Issues of a hook that name lines, as `lineItems.0`, are the details of the refusal. */
const refusalOf = ({ error: { details: { issues } } }: ValidationFailed, { lines }: PricedCart, basket: NamedLines) => {
  const goodsOf = ({ entityId, variantId }: NamedLines[number]) => variantId ?? entityId
  const goods = new Set(
    issues.flatMap(({ path }) => lines[Number(/^lineItems\.(\d+)$/.exec(path)?.[1])] ?? []).map(goodsOf)
  )
  const named = basket.filter((line) => goods.has(goodsOf(line)))
  const message = [...new Set(issues.map((issue) => issue.message))].join(" ")
  const reason = issues[0]?.code ?? "refused"
  return CheckoutFailed.of(
    message,
    named.length === 0
      ? {}
      : { reason, retryable: reason === outOfService.reason, lines: named.map((line) => refusedLine(line)) }
  )
}

/**
 * Fails the checkout when a hook refuses it or breaks. A broken hook must not be a defect: the checkout would repeat,
 * and keep the cart, for as long as the hook is broken.
 */
const run = <A, R>(
  hooks: Effect.Effect<A, ValidationFailed, R>,
  pricedCart: PricedCart,
  basket: NamedLines = pricedCart.lines
) =>
  hooks.pipe(
    Effect.mapError((error) => refusalOf(error, pricedCart, basket)),
    Effect.catchDefect((defect) =>
      defect instanceof HookBroken
        ? Effect.andThen(
          Effect.logError("a checkout failed at a broken hook", defect),
          Effect.fail(CheckoutFailed.of("The checkout could not be completed. Try again later.", outOfService))
        )
        : Effect.die(defect)
    )
  )

const isStorable = Schema.is(StorableObject)
const readStored = Schema.decodeEffect(Schema.fromJsonString(StorableObject))

/**
 * Reads metadata as the database returns it. Metadata that cannot be stored would, as a defect, fail every repetition
 * of the checkout.
 */
const storable = (metadata: unknown) => {
  const refusal = CheckoutFailed.of("A hook of the checkout gave metadata that cannot be stored.")
  return isStorable(metadata)
    ? Effect.mapError(readStored(JSON.stringify(metadata)), () => refusal)
    : Effect.fail(refusal)
}

export const beforePayment = Effect.fn("Checkout.beforePayment")(
  function*(payload: CheckoutRun, pricedCart: PricedCart, basket: NamedLines) {
    const [hooks, { inTables }] = [yield* Hooks, payload]
    if (!hooks.has("checkout.beforePayment", inTables)) return pricedCart
    const data = checkoutData(payload, pricedCart)
    const hooked = yield* run(hooks.before("checkout.beforePayment", data, { inTables }), pricedCart, basket)
    return { ...pricedCart, metadata: yield* storable(hooked.metadata) }
  }
)

export const beforeCreate = Effect.fn("Checkout.beforeCreate")(function*(
  payload: CheckoutRun,
  pricedCart: PricedCart,
  { clientSecret, id }: Pick<PaymentIntent, "clientSecret" | "id">
) {
  const [hooks, { inTables }] = [yield* Hooks, payload]
  if (!hooks.has("checkout.beforeCreate", inTables) && !hooks.has("orders.beforeCreate", inTables)) return pricedCart
  const data: CheckoutData = {
    ...checkoutData(payload, pricedCart),
    paymentIntentId: id,
    paymentClientSecret: clientSecret
  }
  const hooked = yield* run(
    Effect.flatMap(
      hooks.before("checkout.beforeCreate", data, { inTables }),
      (changed) => hooks.before("orders.beforeCreate", changed, { inTables })
    ),
    pricedCart
  )
  return { ...pricedCart, metadata: yield* storable(hooked.metadata) }
})

export const beforeManualOrder = Effect.fn("ManualOrders.beforeCreate")(
  function*(orderId: OrderId, request: PricingRequest, pricedCart: PricedCart) {
    const noCart = { cartId: null, paymentMethodId: null, paymentMethodToken: null, idempotencyKey: null }
    const data = hookData({ ...noCart, orderId, request }, pricedCart)
    const hooked = yield* run((yield* Hooks).before("orders.beforeCreate", data), pricedCart)
    return { ...pricedCart, metadata: yield* storable(hooked.metadata) }
  }
)

/**
 * Runs before the capture: hooks see orders that are cancelled later (contract §3.2, 11). Failures are reported and
 * change nothing (contract §0.5).
 */
export const afterOrder = (order: Order) => Effect.flatMap(Hooks, (hooks) => hooks.after("orders.afterCreate", order))

export const afterCheckout = (order: Order) =>
  Effect.flatMap(Hooks, (hooks) => hooks.after("checkout.afterCreate", order))
