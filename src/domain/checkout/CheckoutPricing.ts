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
import {
  type AppliedPromotions,
  applyPromotions,
  type PromotionRow,
  type PromotionUsage
} from "../promotions/PromotionRules.ts"
import { Promotions } from "../promotions/Promotions.ts"
import { StoreSettings } from "../settings/StoreSettings.ts"
import { type ShippingPrice, ShippingPrices } from "../shipping/ShippingPrices.ts"
import type { Shipment } from "../shipping/ShippingRules.ts"
import { type OrderTax, Taxes } from "../tax/Taxes.ts"
import type { Taxable } from "../tax/TaxRules.ts"
import type { Basket, BasketLine, PricingRequest } from "./Basket.ts"
import type { PricedCart, PricedCartLine } from "./Checkout.ts"
import { type OrderTotals, orderTotals, type TotalsDiscount, type TotalsInput } from "./Totals.ts"

/** Whom the order is for: his profile, which an actor with `customers:read` may name, and his groups (contract §3.1). */
interface Buyer {
  readonly customerId: string | null
  readonly groups: ReadonlyArray<string>
}

/** What of a request the price of an order depends on. */
type Wanted = Omit<PricingRequest, "metadata">

/**
 * Decides what lines cost: current prices, promotions, shipping, tax and totals by the one pure pricing function. Asks
 * the catalog's prices and the promotions once each, whatever the number of lines (contract §3.2, steps 2 to 6). Checkout,
 * quote, manual orders and their edits all take their amounts from here.
 */
export class CheckoutPricing extends Context.Service<CheckoutPricing, {
  readonly price: (
    cart: Basket,
    request: PricingRequest,
    ownProfile: string | null
  ) => Effect.Effect<PricedCart, CheckoutFailed, CurrentActor>
  /** What shipping would be priced on if the cart were checked out like this now. */
  readonly shipmentOf: (
    cart: Basket,
    wanted: Wanted,
    ownProfile: string | null
  ) => Effect.Effect<Shipment, CheckoutFailed, CurrentActor>
}>()("stoa/domain/checkout/CheckoutPricing") {
  static readonly layer = Layer.effect(
    CheckoutPricing,
    Effect.gen(function*() {
      const prices = yield* Prices
      const promotions = yield* Promotions
      const customers = yield* Customers
      const history = yield* OrderHistory
      const settings = yield* StoreSettings
      const shipping = yield* ShippingPrices
      const taxes = yield* Taxes

      const buyerOf = Effect.fnUntraced(function*(cart: Basket, request: Wanted, own: string | null) {
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

      const priced = Effect.fnUntraced(function*(cart: Basket, groups: ReadonlyArray<string>) {
        const now = DateTime.toDateUtc(yield* DateTime.now)
        const resolved = yield* prices.resolveLines(cart.lines, cart.currency, groups, now)
        return yield* Effect.forEach(cart.lines, (line, index) => sold(line, resolved[index] ?? null))
      })

      /** Steps 2 and 4: for whom, at which prices and after which promotions. */
      const discounted = Effect.fnUntraced(function*(cart: Basket, request: Wanted, own: string | null) {
        const buyer = yield* buyerOf(cart, request, own)
        const [lines, candidates] = yield* Effect.all(
          [
            priced(cart, buyer.groups),
            promotions.candidates(request.promotionCodes ?? [], buyer.customerId, cart.email)
          ],
          { concurrency: "unbounded" }
        )
        const orderCount = candidates.some(({ promotion }) => promotion.conditions.firstOrderOnly === true)
          ? (yield* history.countOf(buyer.customerId)) - (cart.used === undefined ? 0 : 1)
          : 0
        const now = DateTime.toDateUtc(yield* DateTime.now)
        const subtotal = lines.reduce((sum, line) => sum + agreedTotal(line), 0)
        const applied = applyPromotions({
          promotions: candidates.map(({ promotion }) => inCurrency(promotion, settings.defaultCurrency)),
          codes: request.promotionCodes ?? [],
          lines: lines.map((line) => ({ ...line, totalPrice: agreedTotal(line) })),
          subtotal,
          currency: cart.currency,
          customer: { isKnown: isKnown(buyer, cart), groupIds: buyer.groups, orderCount },
          usage: new Map(candidates.map(({ promotion, usage }) => [promotion.id, byOthers(usage, promotion, cart)])),
          now
        })
        const shipment = shipmentOf(cart, request, lines, subtotal, applied)
        return { buyer, lines, candidates, applied, shipment }
      })

      const price = Effect.fn("CheckoutPricing.price")(
        function*(cart: Basket, request: PricingRequest, own: string | null) {
          const { applied, buyer, candidates, lines, shipment } = yield* discounted(cart, request, own)
          const shipped = yield* shipping.priceOf(shipment)
          const input = totalsInput(cart.currency, lines, applied, shipped)
          // Twice, since what is taxed is what is left after discount, and a service outside is asked about an order that
          // is one. The second time costs 0.1 ms at 50 lines, of 40 for the checkout: less than a second function would.
          const tax = yield* taxes.taxOf(taxableOf(yield* totalled(input), request))
          const totals = yield* totalled({ ...input, ...tax, taxIncluded: tax.included })
          return assemble(cart, request, buyer, totals, applied, candidates, shipped, tax)
        }
      )

      return { price, shipmentOf: (...asked) => Effect.map(discounted(...asked), ({ shipment }) => shipment) }
    })
  )
}

const totalsInput = (
  currency: string,
  lines: ReadonlyArray<PricedLine>,
  applied: AppliedPromotions,
  { total }: ShippingPrice
): TotalsInput<KeyedLine> => ({
  currency,
  lines: lines.map((line) => ({ ...line, key: line.agreed?.lineId ?? newId() })),
  discounts: discountsOf(lines, applied),
  shippingTotal: total
})

/**
 * A line at its price, refused when the thing is not for sale any more, has no price, or when what staff takes off is
 * more than it comes to.
 */
const sold = (line: BasketLine, price: ResolvedPrice | null): Effect.Effect<PricedLine, CheckoutFailed> => {
  const { agreed, entityType } = line
  const title = line.title ?? line.entityId
  if (!line.available || entityType === null) return Effect.fail(CheckoutFailed.of(`${title} is no longer available.`))
  const decided = agreed?.unitPrice === undefined
    ? price && snapshotPrice(price)
    : { unitPrice: agreed.unitPrice, basePriceId: null }
  if (decided === null) return Effect.fail(CheckoutFailed.of(`Cannot resolve price for ${line.entityId}.`))
  const priced = { ...line, entityType, title, ...decided }
  return agreedTotal(priced) < 0
    ? Effect.fail(CheckoutFailed.of(`The discount of ${title} is more than the line comes to.`))
    : Effect.succeed(priced)
}

/** What a line comes to before promotions, less what staff takes off it. */
const agreedTotal = ({ agreed, quantity, unitPrice }: Pick<PricedLine, "agreed" | "quantity" | "unitPrice">): number =>
  unitPrice * quantity - (agreed?.discount ?? 0)

const isKnown = ({ customerId }: Buyer, { email }: Basket): boolean =>
  customerId !== null || (email ?? "").trim() !== ""

/** How often a promotion was used by other orders than the one that is being edited. */
const byOthers = (usage: PromotionUsage, { id }: PromotionRow, { used }: Basket): PromotionUsage =>
  used?.includes(id) === true ? { total: usage.total - 1, byCustomer: usage.byCustomer - 1 } : usage

/** A fixed promotion without a currency is in the store's (contract §8). */
const inCurrency = (promotion: PromotionRow, currency: string): PromotionRow => ({
  ...promotion,
  currency: promotion.currency ?? currency
})

type PricedLine = BasketLine & Pick<PricedCartLine, "basePriceId" | "priceSteps"> & {
  readonly entityType: string
  readonly title: string
  readonly unitPrice: number
}

/** Pinned without the first step of its explanation, which `priceBreakdown` makes again: most prices have no other. */
const snapshotPrice = ({ basePriceId, breakdown, finalAmount }: ResolvedPrice) => ({
  unitPrice: finalAmount,
  basePriceId,
  ...(breakdown.length > 1 ? { priceSteps: breakdown.slice(1) } : {})
})

const shipmentOf = (
  cart: Basket,
  request: Wanted,
  lines: ReadonlyArray<PricedLine>,
  subtotal: number,
  applied: AppliedPromotions
): Shipment => ({
  currency: cart.currency,
  address: request.shippingAddress ?? null,
  subtotalAfterDiscount: subtotal - applied.discountTotal,
  weightGrams: lines.reduce((grams, line) => grams + Math.max(0, line.weightGrams) * line.quantity, 0),
  digitalOnly: lines.every((line) => isDigital(line.entityType)),
  freeByPromotion: applied.freeShipping,
  rateId: request.shippingRateId ?? null
})

/** The first order is a limit of one: of two checkouts at the same moment neither sees the other's order, the table does. */
const customerLimit = ({ conditions, usageLimitPerCustomer }: PromotionRow): number | null =>
  conditions.firstOrderOnly === true ? Math.min(1, usageLimitPerCustomer ?? 1) : usageLimitPerCustomer

/** What is taxed is what the lines cost after discount, as the totals without tax say it. */
const taxableOf = (
  { currency, lines, shippingTotal }: OrderTotals<KeyedLine>,
  { shippingAddress = null }: PricingRequest
): Taxable => ({
  currency,
  address: shippingAddress,
  lines: lines.map(({ discountAmount, quantity, taxClass, totalPrice }) => ({
    amount: totalPrice - discountAmount,
    quantity,
    taxClass
  })),
  shippingTotal
})

type KeyedLine = PricedLine & { readonly key: string }

/** What staff takes off a line comes first, so that all of it lies on that line and promotions on what is left. */
const discountsOf = (
  lines: ReadonlyArray<PricedLine>,
  { applied }: AppliedPromotions
): ReadonlyArray<TotalsDiscount> => [
  ...lines.flatMap(({ agreed }, index) =>
    agreed === undefined || agreed.discount === 0 ? [] : [{ amount: agreed.discount, eligibleLines: [index] }]
  ),
  ...applied.map((one) => ({ amount: one.discountAmount, eligibleLines: one.eligibleLines }))
]

/** Amounts that no order can have are a refusal of the checkout, not a mistake of the program. */
const totalled = (input: TotalsInput<KeyedLine>): Effect.Effect<OrderTotals<KeyedLine>, CheckoutFailed> =>
  Effect.fromResult(Result.mapError(orderTotals(input), ({ message }) => CheckoutFailed.of(message)))

const assemble = (
  cart: Basket,
  request: PricingRequest,
  buyer: Buyer,
  order: OrderTotals<KeyedLine>,
  applied: AppliedPromotions,
  candidates: ReadonlyArray<{ readonly promotion: PromotionRow }>,
  shipped: ShippingPrice,
  { provider }: OrderTax
): PricedCart => {
  const limits = new Map(candidates.map(({ promotion }) => [promotion.id, customerLimit(promotion)]))
  return {
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
      ...(line.priceSteps === undefined ? {} : { priceSteps: line.priceSteps }),
      ...(line.agreed?.isCustomPrice === true ? { isCustomPrice: true } : {}),
      ...(line.agreed === undefined || line.agreed.discount === 0 ? {} : { manualDiscount: line.agreed.discount })
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
    taxIncluded: order.taxIncluded,
    ...(provider === null ? {} : { taxProvider: provider }),
    shippingTotal: order.shippingTotal,
    grandTotal: order.grandTotal,
    shippingMethod: shipped.method,
    shippingRateId: shipped.rateId,
    metadata: request.metadata ?? {}
  }
}
