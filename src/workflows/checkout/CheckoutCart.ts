import { Effect, Struct } from "effect"
import { CartNotFound } from "../../domain/carts/Cart.ts"
import { withAddresses } from "../../domain/carts/CartChoices.ts"
import { itemLabel } from "../../domain/carts/Line.ts"
import { BasketRepo } from "../../domain/checkout/BasketRepo.ts"
import { lackOf, missingOf, PriceChanged } from "../../domain/checkout/CartTotals.ts"
import { type CheckoutRequest, giftCardMethod } from "../../domain/checkout/Checkout.ts"
import { CheckoutExtensions } from "../../domain/checkout/CheckoutExtension.ts"
import { CheckoutPricing } from "../../domain/checkout/CheckoutPricing.ts"
import type { ClaimedCart, PricedBasket } from "../../domain/checkout/ClaimStatements.ts"
import { decodePricedCart, encodePricedCart, isCounted, type PricedCart } from "../../domain/checkout/PricedCart.ts"
import { refusedLine } from "../../domain/checkout/PricedLines.ts"
import { CheckoutFailed, StillRunning } from "../../domain/platform/errors/ApiErrors.ts"
import type { OrderId } from "../../domain/platform/ids/Id.ts"
import { type Requirement, StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { StockClient } from "../../entities/StockEntity.ts"
import { TotalledCarts } from "../carts/TotalledCarts.ts"
import { beforePayment } from "./CheckoutHooks.ts"
import { checkoutOffers, providerOf, splitTotal } from "./CheckoutTenders.ts"
import { type CheckoutRun, encodePayload } from "./CheckoutWorkflow.ts"

const maxRetries = 5

const refusal = (cart: ClaimedCart, currency: string): CheckoutFailed | CartNotFound => {
  if (!cart.admitted) return new CartNotFound()
  if (cart.lines.length === 0) return CheckoutFailed.of("The cart is empty.", { reason: "cart_empty", field: "cartId" })
  if (cart.currency !== currency) {
    return CheckoutFailed.of(`The cart's currency is ${cart.currency}, not ${currency}.`, {
      reason: "currency_mismatch",
      field: "currency"
    })
  }
  if (cart.status === "active" && cart.expired) {
    return CheckoutFailed.of("The cart has expired.", { reason: "cart_closed", field: "cartId" })
  }
  return CheckoutFailed.of(`The cart is not available for checkout: it is ${cart.status.replace("_", " ")}.`, {
    reason: "cart_closed",
    field: "cartId"
  })
}

/**
 * Claims the cart and records the run with it (contract §3.2, 0b and 1). A takeover finds the claim of the run before
 * it; the caller undoes that run when the takeover is refused.
 */
export const claimCart = Effect.fn("Checkout.claim")(function*(run: CheckoutRun) {
  const claims = yield* BasketRepo
  const { actor, checkoutId, customerId, owner, process, request, secretHash } = run
  const recorded = process === null ? null : { owner, process, payload: encodePayload(run) }
  const visitor = { actor, customerId, secretHash }
  for (let retry = 0;; retry++) {
    const cart = yield* claims.claim(checkoutId, visitor, request, recorded)
    if (cart !== undefined && (cart.claimed || cart.ordered)) return cart
    if (cart?.ours === true && process !== null) return yield* StillRunning.of()
    const changed = cart !== undefined && (cart.ours || cart.admitted && cart.status === "active" && !cart.expired &&
        cart.lines.length > 0 && cart.currency === request.currency)
    if (changed && retry < maxRetries) continue
    return yield* cart === undefined ? new CartNotFound() : refusal(cart, request.currency)
  }
})

/** Completes a request with the choices of its cart (contract-commerce §3). */
export const withChoices = (request: CheckoutRequest, { choices, metadata }: PricedBasket): CheckoutRequest => {
  const { giftCards = [], locale = null, note = null, ...chosen } = choices
  const tenders = giftCards.map(({ token }) => ({ method: giftCardMethod, token }))
  const completed = { ...withAddresses(chosen), ...(tenders.length === 0 ? {} : { tenders }), ...request }
  const billingAddress = completed.billingAddress ?? null
  return {
    ...completed,
    metadata: {
      ...metadata,
      ...(locale === null ? {} : { locale }),
      ...(note === null ? {} : { note }),
      ...request.metadata,
      ...(billingAddress === null ? {} : { billingAddress })
    }
  }
}

const names: { readonly [Field in Requirement]: string } = {
  email: "an e-mail address",
  shippingAddress: "a shipping address",
  billingAddress: "a billing address",
  phone: "a phone number in an address"
}

/** 422 when something is missing, 409 when the buyer expects another total. */
const agreed = Effect.fnUntraced(function*({ request }: CheckoutRun, cart: ClaimedCart, priced: PricedCart) {
  const settings = yield* StoreSettings
  const addresses = Struct.pick(request, ["shippingAddress", "billingAddress"])
  const missing = missingOf(settings, priced, {
    email: cart.email,
    shippingAddress: request.shippingAddress,
    billingAddress: request.billingAddress
  })
  if (missing.length > 0) {
    const needs = missing.map((one) => {
      const address = one === "shippingAddress" || one === "billingAddress" ? addresses[one] : null
      const lack = address ? lackOf(address, settings.strictAddresses) : undefined
      return lack === undefined ? names[one] : `${names[one]} with its ${lack}`
    })
    const message = `The order needs ${needs.join(" and ")}.`
    return yield* CheckoutFailed.of(message, { reason: "missing", missing })
  }
  if (request.expectedTotal === undefined || request.expectedTotal === priced.grandTotal) return
  const asked = Struct.pick(request, ["email", "promotionCodes", "shippingAddress", "billingAddress", "shippingRateId"])
  const cards = request.tenders?.flatMap(({ method, token }) => method === giftCardMethod && token ? [token] : [])
  return yield* PriceChanged.of(yield* (yield* TotalledCarts).of(request.cartId, asked, cards))
})

export const reservationExpired = CheckoutFailed.of("The reservation of the items has run out. Try again.", {
  reason: "reservation_expired",
  retryable: true
})

interface StockRefusal {
  readonly _tag: string
  readonly sellableId?: string
  readonly title?: string
  readonly available?: number
  readonly requested?: number
}

const stockError = (error: StockRefusal, lines: ReadonlyArray<Parameters<typeof refusedLine>[0]>) =>
  error._tag === "StockShort"
    ? CheckoutFailed.of(
      `Insufficient stock for ${error.title}. Available: ${error.available}, requested: ${error.requested}.`,
      {
        reason: "insufficient_stock",
        lines: lines.filter((line) => (line.variantId ?? line.entityId) === error.sellableId).map((line) =>
          refusedLine(line, error.available)
        )
      }
    )
    : error._tag === "HoldGone"
    ? reservationExpired
    : CheckoutFailed.of("The items could not be reserved in time. Try again.", { reason: "busy", retryable: true })

/**
 * Reserves the stock of the counted lines of a priced cart and stores the priced cart with the reservation; one stored earlier for the same
 * order wins. The caller releases the reservation when this or a later step fails. A refusal names lines of `basket`.
 */
export const reserveFor = Effect.fn("Checkout.reserveStock")(function*(
  orderId: OrderId,
  pricedCart: PricedCart,
  basket: Parameters<typeof stockError>[1] = pricedCart.lines
) {
  return yield* (yield* StockClient).reserve({
    holder: orderId,
    lines: pricedCart.lines.filter(isCounted).map(({ backorders, entityId, quantity, variantId, ...line }) => ({
      sellableId: variantId ?? entityId,
      entityId,
      quantity,
      title: itemLabel(line),
      ...(backorders === undefined ? {} : { backorders })
    })),
    warehouseId: pricedCart.warehouseId,
    ttlSeconds: (yield* StoreSettings).holdSeconds,
    pricing: yield* encodePricedCart(pricedCart)
  }).pipe(Effect.mapError((error) => error._tag === "ProcessStopping" ? error : stockError(error, basket)))
})

export const priceAndReserve = Effect.fn("Checkout.reserve")(function*(run: CheckoutRun, cart: ClaimedCart) {
  const { checkoutId, request } = run
  const decide = (yield* CheckoutExtensions).decide({
    checkoutId,
    cartId: request.cartId,
    currency: request.currency,
    shippingAddress: request.shippingAddress ?? null,
    metadata: request.metadata ?? {}
  })
  const offers = yield* checkoutOffers(run)
  const pricing = yield* CheckoutPricing
  const priced = yield* pricing.price(cart, request, run.customerId, decide, offers.alreadyTaxed)
  yield* agreed(run, cart, priced)
  const allowed = yield* beforePayment(run, priced, cart.lines)
  const tenders = yield* splitTotal(run, allowed, offers)
  const pricedCart = tenders === undefined
    ? { ...allowed, paymentProvider: yield* providerOf(run) }
    : { ...allowed, tenders }
  const reserved = yield* reserveFor(checkoutId, pricedCart, cart.lines)
  return reserved.fresh ? pricedCart : yield* decodePricedCart(reserved.pricing)
})
