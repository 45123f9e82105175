import { Context, DateTime, Effect, Layer, Result, Struct } from "effect"
import {
  type CartLine,
  type CartLineChange,
  type CartVisitor,
  type NewCart,
  type NewCartLine,
  type StoredCart,
  toCart
} from "../../domain/carts/Cart.ts"
import { type CartChange, type CartChoices, noChoices, readChoices } from "../../domain/carts/CartChoices.ts"
import { Carts } from "../../domain/carts/Carts.ts"
import { BasketRepo } from "../../domain/checkout/BasketRepo.ts"
import { cartTotals, missingOf } from "../../domain/checkout/CartTotals.ts"
import { giftCardMethod } from "../../domain/checkout/Checkout.ts"
import { CheckoutExtensions, type DecideTerms, noTerms } from "../../domain/checkout/CheckoutExtension.ts"
import { CheckoutPricing } from "../../domain/checkout/CheckoutPricing.ts"
import type { PricedBasket } from "../../domain/checkout/ClaimStatements.ts"
import { buyerOf } from "../../domain/checkout/PricedCart.ts"
import { type ChangedLine, shownLine, shownLines } from "../../domain/checkout/ShownCart.ts"
import { PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"
import { CurrentActor } from "../../domain/platform/access/Actor.ts"
import type { CheckoutFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import { type CartId, type CartLineId } from "../../domain/platform/ids/Id.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { normalizeCodes } from "../../domain/promotions/PromotionRules.ts"
import { TaxSettings } from "../../domain/tax/TaxAdapter.ts"
import { cardOffers, paidBy } from "./CartPayments.ts"

class NoGiftCards extends invalid("NoGiftCards", "giftCardCodes", "giftCardCodes are not accepted by this store.") {}
class NoPriceIn extends invalid(
  "NoPriceIn",
  "currency",
  (currency: string, items: string) =>
    `currency cannot be ${currency}, because these items have no price in it: ${items}.`,
  "no_price"
) {}

type Change = Omit<CartChange, "currency">
type Adapters = PaymentAdapters["Service"]

const lastFourOf = (code: string): string => code.replace(/[\s-]/g, "").slice(-4).toUpperCase()

/** Codes as the provider of gift cards may keep them; 422 without one. */
const concealed = (
  adapters: Adapters,
  codes: ReadonlyArray<string>
): Result.Result<CartChoices["giftCards"], NoGiftCards> => {
  if (codes.length === 0) return Result.succeed([])
  const found = adapters.named(giftCardMethod)
  if (found === undefined) return Result.fail(new NoGiftCards())
  const { conceal } = found.adapter
  return Result.succeed(codes.map((code) => ({ token: conceal?.(code) ?? code, lastFour: lastFourOf(code) })))
}

/** Choices that a change sets; null takes away. */
const chosenBy = (adapters: Adapters, { giftCardCodes, promotionCodes, ...change }: Change) => {
  const texts = Struct.pick(change, ["shippingAddress", "billingAddress", "shippingRateId", "note", "locale"])
  const choices: Partial<CartChoices> = {
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined)),
    ...(promotionCodes === undefined ? {} : { promotionCodes: normalizeCodes(promotionCodes ?? []) })
  }
  return giftCardCodes === undefined
    ? Result.succeed(choices)
    : Result.map(concealed(adapters, giftCardCodes ?? []), (giftCards) => ({ ...choices, giftCards }))
}

const makePreview = Effect.gen(function*() {
  const [pricing, { from }, settings] = yield* Effect.all([CheckoutPricing, TaxSettings, StoreSettings])
  const extensions = yield* CheckoutExtensions
  const adapters = yield* PaymentAdapters

  return Effect.fnUntraced(function*(
    { customerId }: CartVisitor,
    cartId: CartId,
    basket: PricedBasket,
    choices: CartChoices
  ) {
    const { billingAddress, giftCards, promotionCodes, shippingRateId } = choices
    const shippingAddress = choices.shippingAddress ?? from
    const { metadata } = basket
    const request = { promotionCodes, shippingAddress, billingAddress, shippingRateId, metadata }
    const decide = extensions.decide({
      checkoutId: null,
      cartId,
      currency: basket.currency,
      shippingAddress,
      metadata
    })
    const asked = yield* cardOffers(adapters, cartId, basket.currency, giftCards)
    const { alreadyTaxed } = asked.offers
    const priceOf = (cart: PricedBasket, terms: DecideTerms) =>
      pricing.preview(cart, request, customerId, terms, alreadyTaxed)
    const unpriced = ({ error: { message } }: CheckoutFailed) =>
      Effect.map(priceOf({ ...basket, lines: [] }, noTerms), (empty) => ({
        ...empty,
        warnings: [{ code: "not_priced" as const, lineId: null, message }]
      }))
    const { warnings, ...priced } = yield* Effect.catch(priceOf(basket, decide), unpriced)
    const paid = yield* paidBy(asked, priced.pricedCart)
    const known = { email: basket.email, shippingAddress: choices.shippingAddress, billingAddress }
    return cartTotals({
      ...priced,
      tenders: paid.tenders,
      estimated: choices.shippingAddress === null,
      missing: missingOf(settings, priced.pricedCart, known),
      warnings: [...warnings, ...paid.warnings]
    })
  })
})

const makeTotals = Effect.gen(function*() {
  const [carts, baskets, preview] = [yield* Carts, yield* BasketRepo, yield* makePreview]
  const adapters = yield* PaymentAdapters

  const basketOf = Effect.fnUntraced(
    function*(
      { actor, customerId }: CartVisitor,
      cart: CartId,
      { currency, email, promotionCodes }: Partial<CartChange>
    ) {
      const basket = yield* baskets.priced({
        cart,
        currency: currency ?? null,
        codes: promotionCodes === undefined ? null : normalizeCodes(promotionCodes ?? []),
        email: email ?? null,
        named: null,
        own: buyerOf(actor, null, customerId).own,
        now: DateTime.toDateUtc(yield* DateTime.now)
      })
      return basket ?? (yield* Effect.die(new Error(`Cart ${cart} is gone.`)))
    }
  )

  /** Callers admit the visitor. */
  const stored = Effect.fnUntraced(function*(visitor: CartVisitor, cartId: CartId) {
    const basket = yield* basketOf(visitor, cartId, {})
    return { basket, totals: yield* preview(visitor, cartId, basket, readChoices(basket.choices)) }
  })

  /**
   * Totals a cart with the named choices, and the gift cards of these tokens, in place of those it has. Callers admit the
   * visitor.
   */
  const of = Effect.fn("TotalledCarts.of")(function*(
    cartId: CartId,
    asked: Partial<CartChange>,
    tokens?: ReadonlyArray<string>
  ) {
    const chosen = yield* Effect.fromResult(chosenBy(adapters, asked))
    const visitor = yield* carts.visitor
    const basket = yield* basketOf(visitor, cartId, asked)
    const metadata = asked.metadata ?? basket.metadata
    const choices = { ...readChoices(basket.choices), ...chosen }
    const giftCards = tokens?.map((token) =>
      choices.giftCards.find((card) => card.token === token) ?? { token, lastFour: "" }
    )
    return yield* preview(visitor, cartId, { ...basket, metadata }, { ...choices, ...(giftCards && { giftCards }) })
  })

  /** Prices of all lines in another currency; 422 names those without one. */
  const pricesIn = Effect.fnUntraced(function*({ cart, lines }: StoredCart, currency: CartChange["currency"]) {
    if (currency === undefined || currency === cart.currency) return {}
    const visitor = yield* carts.visitor
    const totals = yield* preview(visitor, cart.id, yield* basketOf(visitor, cart.id, { currency }), noChoices)
    const prices = Object.fromEntries(totals.lines.map(({ id, unitPrice }) => [id, unitPrice]))
    const missing = lines.filter(({ id }) => !(id in prices))
    return missing.length === 0
      ? { currency, prices }
      : yield* new NoPriceIn(currency, missing.map(({ entityId }) => entityId).join(", "))
  })

  return { stored, of, pricesIn }
})

/** Changes of lines; with totals they cost one statement more, and show the line as a read does. */
const lineChanges = (carts: Carts["Service"], stored: Effect.Success<typeof makeTotals>["stored"]) => {
  const answered = Effect.fnUntraced(function*<E, R>(
    cartId: CartId,
    withTotals: boolean,
    change: (visitor: CartVisitor) => Effect.Effect<CartLine, E, R>
  ) {
    const visitor = yield* carts.visitor
    const line = yield* change(visitor)
    if (!withTotals) return line
    const { basket, totals } = yield* stored(visitor, cartId)
    return { ...shownLine(line, basket.lines, totals), totals } satisfies ChangedLine
  })

  return {
    addItem: (cartId: CartId, sent: NewCartLine, withTotals: boolean) =>
      answered(cartId, withTotals, (visitor) => carts.addItem(cartId, sent, visitor)),
    changeItem: (cartId: CartId, itemId: CartLineId, sent: CartLineChange, withTotals: boolean) =>
      answered(cartId, withTotals, (visitor) => carts.changeItem(cartId, itemId, sent, visitor)),
    /** The totals, where they are asked for. */
    removeItem: Effect.fn("TotalledCarts.removeItem")(
      function*(cartId: CartId, itemId: CartLineId, withTotals: boolean) {
        const visitor = yield* carts.visitor
        yield* carts.removeItem(cartId, itemId, visitor)
        return withTotals ? { totals: (yield* stored(visitor, cartId)).totals } : {}
      }
    )
  }
}

/** Totals of carts, and changes that need a price or a payment provider (contract-commerce §3). */
export class TotalledCarts extends Context.Service<TotalledCarts>()("stoa/workflows/carts/TotalledCarts", {
  make: Effect.gen(function*() {
    const [carts, adapters, { of, pricesIn, stored }] = [yield* Carts, yield* PaymentAdapters, yield* makeTotals]

    const read = Effect.fn("TotalledCarts.read")(function*(cartId: CartId) {
      const visitor = yield* carts.visitor
      const cart = toCart(yield* carts.get(cartId, visitor))
      const { basket, totals } = yield* stored(visitor, cart.id)
      return { ...cart, lineItems: shownLines(cart.lineItems, basket.lines, totals), totals }
    })

    /** A crash before it leaves old snapshots, which no checkout charges. */
    const reprice = Effect.fnUntraced(function*(cartId: CartId) {
      const { totals } = yield* stored(yield* carts.visitor, cartId)
      const prices = Object.fromEntries(totals.lines.map(({ id, unitPrice }) => [id, unitPrice]))
      yield* carts.change(cartId, () => Effect.succeed({ choices: {}, prices }))
    })

    return {
      of,
      /** Gives a guest's cart to its buyer, and sets its prices again when another one was merged into it. */
      claim: Effect.fn("TotalledCarts.claim")(function*(cartId: CartId) {
        if ((yield* carts.claim(cartId)) === "merged") {
          // The claim has written the idempotency record, and stands also when a checkout takes the cart now.
          yield* Effect.ignore(Effect.updateService(reprice(cartId), CurrentActor, Struct.omit(["executionId"])))
        }
        return yield* read(cartId)
      }),
      /** A cart with its totals; 404 also for visitors who may not read it. */
      read,
      ...lineChanges(carts, stored),
      create: (input: NewCart) =>
        Effect.flatMap(
          Effect.fromResult(chosenBy(adapters, input)),
          (choices) => carts.create(input, { ...noChoices, ...choices })
        ),
      /** Changes a cart and answers it as a read does. 404, 409 while it is checked out, 422 when it has ended. */
      change: Effect.fn("TotalledCarts.change")(function*(cartId: CartId, { currency, ...change }: CartChange) {
        yield* carts.change(
          cartId,
          (cart) =>
            Effect.all([Effect.fromResult(chosenBy(adapters, change)), pricesIn(cart, currency)]).pipe(
              Effect.map(([choices, priced]) => ({
                ...(change.email === undefined ? {} : { email: change.email }),
                ...(change.metadata === undefined ? {} : { metadata: change.metadata ?? {} }),
                ...priced,
                choices
              }))
            )
        )
        return yield* read(cartId)
      }),
      /** Totals for values that are not stored. Writes and reserves nothing. */
      quote: Effect.fn("TotalledCarts.quote")(function*(cartId: CartId, asked: CartChange) {
        yield* carts.get(cartId)
        return { totals: yield* of(cartId, asked) }
      })
    }
  })
}) {
  static readonly layer = Layer.effect(TotalledCarts, TotalledCarts.make)
}
