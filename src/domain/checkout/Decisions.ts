import { Context, DateTime, Effect, Layer, Result } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import { actsForShop, mayNameCustomers } from "../access/Ownership.ts"
import { Customers } from "../customers/Customers.ts"
import { CheckoutFailed } from "../errors/ApiErrors.ts"
import { isDigital } from "../fulfillment/DigitalDelivery.ts"
import { newId } from "../ids/Id.ts"
import { OrderHistory } from "../orders/OrderHistory.ts"
import type { ResolvedPrice } from "../pricing/PriceResolution.ts"
import { Prices } from "../pricing/Prices.ts"
import { PromotionRepo } from "../promotions/PromotionRepo.ts"
import { type AppliedPromotions, applyPromotions, type PromotionRow } from "../promotions/PromotionRules.ts"
import { StoreSettings } from "../settings/StoreSettings.ts"
import type { CheckoutRequest, DecidedLine, Decision } from "./Checkout.ts"
import type { ClaimedCart } from "./ClaimRepo.ts"
import type { ClaimedLine } from "./ClaimStatementRepo.ts"
import { shippingPrice } from "./Shipping.ts"
import { orderTotals } from "./Totals.ts"

/** Whom the order is for: his profile, which an actor with `customers:read` may name, and his groups (contract §3.1). */
interface Buyer {
  readonly customerId: string | null
  readonly groups: ReadonlyArray<string>
}

/**
 * Decides a checkout: current prices, promotions, shipping, tax and totals by the one pure pricing function. Asks the
 * catalog's prices and the promotions once each, whatever the number of lines (contract §3.2, steps 2 to 6).
 */
export class Decisions extends Context.Service<Decisions, {
  readonly decide: (
    cart: ClaimedCart,
    request: CheckoutRequest,
    ownProfile: string | null
  ) => Effect.Effect<Decision, CheckoutFailed, CurrentActor>
}>()("stoa/domain/checkout/Decisions") {
  static readonly layer = Layer.effect(
    Decisions,
    Effect.gen(function*() {
      const prices = yield* Prices
      const promotions = yield* PromotionRepo
      const customers = yield* Customers
      const history = yield* OrderHistory
      const settings = yield* StoreSettings

      const buyerOf = Effect.fnUntraced(function*(cart: ClaimedCart, request: CheckoutRequest, own: string | null) {
        const actor = yield* CurrentActor
        const trusted = mayNameCustomers(actor)
        const named = trusted ? request.customerId ?? null : null
        if (named !== null) {
          yield* Effect.mapError(customers.mustExist(named), () => CheckoutFailed.of(`Unknown customer ${named}.`))
        }
        // Staff who check out a guest's cart serve him: the order is his, and he reads it by the cart's secret.
        const customerId = named ?? cart.customerId ?? (actsForShop(actor) ? null : own)
        const groups = trusted && request.customerGroupIds !== undefined
          ? request.customerGroupIds
          : customerId === null || customerId === cart.customerId
          ? cart.customerGroupIds
          : yield* customers.groupsOf(customerId)
        return { customerId, groups } satisfies Buyer
      })

      const priced = Effect.fnUntraced(function*(cart: ClaimedCart, groups: ReadonlyArray<string>) {
        const now = DateTime.toDateUtc(yield* DateTime.now)
        const resolved = yield* prices.resolveLines(cart.lines, cart.currency, groups, now)
        return yield* Effect.forEach(cart.lines, (line, index) => sold(line, resolved[index] ?? null))
      })

      const decide = Effect.fn("Decisions.decide")(function*(
        cart: ClaimedCart,
        request: CheckoutRequest,
        own: string | null
      ) {
        const buyer = yield* buyerOf(cart, request, own)
        const [lines, candidates] = yield* Effect.all(
          [priced(cart, buyer.groups), promotions.candidates(request.promotionCodes ?? [], buyer.customerId)],
          { concurrency: "unbounded" }
        )
        const orderCount = candidates.some(({ promotion }) => promotion.conditions.firstOrderOnly === true)
          ? yield* history.countOf(buyer.customerId)
          : 0
        const now = DateTime.toDateUtc(yield* DateTime.now)
        const subtotal = lines.reduce((sum, line) => sum + line.unitPrice * line.quantity, 0)
        const applied = applyPromotions({
          promotions: candidates.map(({ promotion }) => inCurrency(promotion, settings.defaultCurrency)),
          codes: request.promotionCodes ?? [],
          lines: lines.map((line) => ({ ...line, totalPrice: line.unitPrice * line.quantity })),
          subtotal,
          currency: cart.currency,
          customer: { id: buyer.customerId, groupIds: buyer.groups, orderCount },
          usage: new Map(candidates.map(({ promotion, usage }) => [promotion.id, usage])),
          now
        })
        const shippingTotal = shippingPrice(settings.shipping, {
          subtotalAfterDiscount: subtotal - applied.discountTotal,
          weightGrams: lines.reduce((grams, line) => grams + line.weightGrams * line.quantity, 0),
          digitalOnly: lines.every((line) => isDigital(line.entityType)),
          freeByPromotion: applied.freeShipping
        })
        return yield* Effect.fromResult(assemble(cart, request, buyer, lines, applied, candidates, shippingTotal))
      })

      return { decide }
    })
  )
}

/** A line at its price, refused when the thing is not for sale any more or has no price. */
const sold = (line: ClaimedLine, price: ResolvedPrice | null): Effect.Effect<PricedLine, CheckoutFailed> => {
  const { entityType } = line
  const title = line.title ?? line.entityId
  if (!line.available || entityType === null) return Effect.fail(CheckoutFailed.of(`${title} is no longer available.`))
  return price === null
    ? Effect.fail(CheckoutFailed.of(`Cannot resolve price for ${line.entityId}.`))
    : Effect.succeed({ ...line, entityType, title, ...decidedPrice(price) })
}

/** A fixed promotion without a currency is in the store's (contract §8). */
const inCurrency = (promotion: PromotionRow, currency: string): PromotionRow => ({
  ...promotion,
  currency: promotion.currency ?? currency
})

type PricedLine = ClaimedLine & Pick<DecidedLine, "basePriceId" | "priceSteps"> & {
  readonly entityType: string
  readonly title: string
  readonly unitPrice: number
}

/** Pinned without the first step of its explanation, which `priceBreakdown` makes again: most prices have no other. */
const decidedPrice = ({ basePriceId, breakdown, finalAmount }: ResolvedPrice) => ({
  unitPrice: finalAmount,
  basePriceId,
  ...(breakdown.length > 1 ? { priceSteps: breakdown.slice(1) } : {})
})

/** The first order is a limit of one: of two checkouts at the same moment neither sees the other's order, the table does. */
const customerLimit = ({ conditions, usageLimitPerCustomer }: PromotionRow): number | null =>
  conditions.firstOrderOnly === true ? Math.min(1, usageLimitPerCustomer ?? 1) : usageLimitPerCustomer

const assemble = (
  cart: ClaimedCart,
  request: CheckoutRequest,
  buyer: Buyer,
  lines: ReadonlyArray<PricedLine>,
  applied: AppliedPromotions,
  candidates: ReadonlyArray<{ readonly promotion: PromotionRow }>,
  shippingTotal: number
): Result.Result<Decision, CheckoutFailed> => {
  const limits = new Map(candidates.map(({ promotion }) => [promotion.id, customerLimit(promotion)]))
  const totals = orderTotals({
    currency: cart.currency,
    lines: lines.map((line) => ({ ...line, key: newId() })),
    discounts: applied.applied.map((one) => ({ amount: one.discountAmount, eligibleLines: one.eligibleLines })),
    shippingTotal
  })
  return Result.mapBoth(totals, {
    onFailure: (refusal) => CheckoutFailed.of(refusal.message),
    onSuccess: (order) => ({
      currency: cart.currency,
      customerId: buyer.customerId,
      customerGroupIds: buyer.groups,
      cartSecretHash: cart.secretHash,
      lines: order.lines.map((line) => ({
        id: line.key,
        entityId: line.entityId,
        entityType: line.entityType,
        variantId: line.variantId,
        sku: line.sku,
        title: line.title,
        quantity: line.quantity,
        unitPrice: line.unitPrice,
        totalPrice: line.totalPrice,
        discountAmount: line.discountAmount,
        taxAmount: line.taxAmount,
        basePriceId: line.basePriceId,
        ...(line.priceSteps === undefined ? {} : { priceSteps: line.priceSteps })
      })),
      promotions: applied.applied.map((one) => ({
        promotionId: one.promotionId,
        code: one.code,
        type: one.type,
        discountAmount: one.discountAmount,
        freeShipping: one.freeShipping,
        description: one.description,
        perCustomer: limits.get(one.promotionId) ?? null
      })),
      rejectedCodes: applied.rejectedCodes.map(({ code, reason }) => ({ code, reason })),
      subtotal: order.subtotal,
      discountTotal: order.discountTotal,
      taxTotal: order.taxTotal,
      shippingTotal: order.shippingTotal,
      grandTotal: order.grandTotal,
      metadata: request.metadata ?? {}
    })
  })
}
