import { Context, DateTime, Effect, Layer, Struct } from "effect"
import { CartNotFound, changeable } from "../carts/Cart.ts"
import { Carts } from "../carts/Carts.ts"
import { type ChosenLine, chosenLine, isSameLine, mergedLine } from "../carts/Line.ts"
import { CurrentActor, holds } from "../platform/access/Actor.ts"
import { CheckoutFailed, type NotFound, type ValidationFailed } from "../platform/errors/ApiErrors.ts"
import { forbidden, invalid, notFound } from "../platform/errors/ErrorKinds.ts"
import type { CartId } from "../platform/ids/Id.ts"
import { shownOption } from "../shipping/ShippingRules.ts"
import { BasketRepo, type SellableSnapshot } from "./BasketRepo.ts"
import type { LineChange, LineRequest, Quote, QuoteRequest, ShippingQuoteRequest } from "./Checkout.ts"
import { CheckoutExtensions } from "./CheckoutExtension.ts"
import { CheckoutPricing } from "./CheckoutPricing.ts"
import { type Agreement, appliedIn, type Basket, type PricedCart, type PricingRequest, totalsOf } from "./PricedCart.ts"

class LinesOrCart
  extends invalid("LinesOrCart", "lineItems", "lineItems or a cartId is required, and not both.", "required")
{}
class EmptyCart extends invalid("EmptyCart", "cartId", "cartId names an empty cart.", "empty") {}
class PriceRequired extends invalid(
  "PriceRequired",
  (line: string) => `${line}.unitPrice`.replace(/^\./, ""),
  "is required with isCustomPrice.",
  "required"
) {}
class MoneyForbidden extends forbidden(
  "SetPrices",
  "Permission 'orders:manage' is required to set prices and discounts."
) {}
class LineEntityNotFound extends notFound("Entity", (id: string) => `Catalog entity ${id} not found.`) {}
class LineVariantNotFound extends notFound("Variant", (id: string) => `Variant ${id} not found.`) {}
class LineVariantRequired extends invalid(
  "VariantRequired",
  "variantId",
  (title: string | null) => `variantId is required, because ${title} has variants.`,
  "variant_required"
) {}

/** Prices lines without claiming a cart (contract §3.4, §3.8, §4.4). Stores nothing. */
export class Quotes extends Context.Service<Quotes>()("stoa/domain/checkout/Quotes", {
  make: Effect.gen(function*() {
    const [repo, carts, pricing] = yield* Effect.all([BasketRepo, Carts, CheckoutPricing])
    const extensions = yield* CheckoutExtensions

    /**
     * Merges equal lines at the catalog price. 404 for an unknown entity or variant, 422 for a missing variant, 403 for
     * prices without `orders:manage`.
     */
    const linesOf = Effect.fn("Quotes.linesOf")(function*(requests: ReadonlyArray<LineRequest>) {
      const agreed = yield* Effect.forEach(requests, (request, index) => agreementOf(request, `lineItems.${index}`))
      const lines = mergeEqual(
        requests.map((request, index) => ({ ...chosenLine(request), agreed: agreed[index] }))
      )
      const snapshots = yield* repo.ofLines(lines)
      return yield* Effect.forEach(
        snapshots,
        (snapshot, index) => Effect.as(requireSellable(snapshot), { ...snapshot, ...lines[index] })
      )
    })

    const cartOf = Effect.fnUntraced(function*(cartId: CartId) {
      return (yield* repo.ofCart(cartId)) ?? (yield* new CartNotFound())
    })

    const basketOf = Effect.fnUntraced(function*({ cartId, currency, lineItems }: QuoteRequest) {
      if ((cartId === undefined) === (lineItems === undefined)) {
        return yield* new LinesOrCart()
      }
      if (cartId === undefined) return basketWithout(currency, yield* linesOf(lineItems ?? []))
      const cart = yield* cartOf(cartId)
      if (cart.lines.length === 0) return yield* new EmptyCart()
      return cart.currency === currency
        ? cart
        : yield* CheckoutFailed.of(`The cart's currency is ${cart.currency}, not ${currency}.`, {
          reason: "currency_mismatch",
          field: "currency"
        })
    })

    /**
     * Prices lines or a cart exactly as a checkout does, and ignores stock. Fails as `linesOf`, and with 422
     * CHECKOUT_FAILED.
     */
    const quote = Effect.fn("Quotes.quote")(function*(request: QuoteRequest & Pick<PricingRequest, "metadata">) {
      const basket: Basket = yield* basketOf(request)
      const metadata = { ...basket.metadata, ...request.metadata }
      const decide = extensions.decide({
        checkoutId: null,
        cartId: request.cartId ?? null,
        currency: request.currency,
        shippingAddress: request.shippingAddress ?? null,
        metadata
      })
      return quoteOf(yield* pricing.price(basket, { ...request, metadata }, null, decide))
    })

    /** 404 for a cart of another visitor; 422 for an inactive or empty cart, or an address without a shipping rate. */
    const shippingRates = Effect.fn("Quotes.shippingRates")(function*(request: ShippingQuoteRequest) {
      const stored = yield* carts.get(request.cartId)
      yield* Effect.fromResult(changeable(stored, DateTime.toDateUtc(yield* DateTime.now)))
      const cart = yield* cartOf(request.cartId)
      if (cart.lines.length === 0) {
        return yield* CheckoutFailed.of("The cart is empty.", { reason: "cart_empty", field: "cartId" })
      }
      const { customerId } = yield* carts.visitor
      const { billingAddress, promotionCodes } = stored.choices
      const options = yield* pricing.offered(
        cart,
        {
          ...request,
          billingAddress,
          promotionCodes: request.promotionCodes ?? promotionCodes,
          metadata: cart.metadata
        },
        customerId
      )
      return { currency: cart.currency, rates: options.map(shownOption) }
    })

    return { linesOf, quote, shippingRates }
  })
}) {
  static readonly layer = Layer.effect(Quotes, Quotes.make)
}

export const requireMoney = Effect.flatMap(CurrentActor, (actor) =>
  holds(actor, "orders:manage")
    ? Effect.void
    : Effect.fail(new MoneyForbidden()))

/**
 * The price and discount that staff set for a line. Fails without permission: silently different prices are worse than
 * no order (contract §12.3).
 */
export const agreementOf = Effect.fnUntraced(function*(
  { discountAmount, isCustomPrice, unitPrice }: Pick<LineChange, "discountAmount" | "isCustomPrice" | "unitPrice">,
  path: string
) {
  if (isCustomPrice !== true && (discountAmount ?? 0) === 0) return undefined
  yield* requireMoney
  if (isCustomPrice === true && typeof unitPrice !== "number") {
    return yield* new PriceRequired(path)
  }
  const agreement: Agreement = {
    unitPrice: isCustomPrice === true ? unitPrice ?? undefined : undefined,
    isCustomPrice: isCustomPrice === true,
    discount: discountAmount ?? 0
  }
  return agreement
})

type RequestedLine = ChosenLine & { readonly agreed: Agreement | undefined }

const mergeEqual = (lines: ReadonlyArray<RequestedLine>): ReadonlyArray<RequestedLine> => {
  const merged: Array<RequestedLine> = []
  for (const line of lines) {
    const index = line.agreed !== undefined ?
      -1 :
      merged.findIndex((one) => one.agreed === undefined && isSameLine(one, line))
    const same = merged[index]
    if (same === undefined) merged.push(line)
    else merged[index] = mergedLine(same, line)
  }
  return merged
}

const requireSellable = (line: SellableSnapshot): Effect.Effect<void, NotFound | ValidationFailed> => {
  if (line.entityType === null) return Effect.fail(new LineEntityNotFound(line.entityId))
  if (line.variantId !== null) {
    return line.variantFound ? Effect.void : Effect.fail(new LineVariantNotFound(line.variantId))
  }
  return line.hasVariants
    ? Effect.fail(new LineVariantRequired(line.title))
    : Effect.void
}

export const basketWithout = (
  currency: string,
  lines: Basket["lines"],
  email: string | null = null
): Basket => ({
  email,
  currency,
  customerId: null,
  customerGroupIds: [],
  secretHash: "",
  lines
})

export const quoteOf = (pricedCart: PricedCart): Quote => ({
  currency: pricedCart.currency,
  ...totalsOf(pricedCart),
  taxExemption: pricedCart.taxExemption ?? null,
  lineItems: pricedCart.lines.map(({ addedSteps = [], isCustomPrice = false, ...line }) => ({
    ...Struct.omit(line, ["id", "basePriceId", "priceSteps", "manualDiscount"]),
    isCustomPrice,
    priceSteps: addedSteps
  })),
  appliedPromotions: appliedIn(pricedCart),
  rejectedPromotionCodes: pricedCart.rejectedCodes
})
