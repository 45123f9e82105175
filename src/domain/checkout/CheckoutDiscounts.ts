import { DateTime, Effect } from "effect"
import { Customers } from "../customers/Customers.ts"
import { CustomerOrders } from "../orders/CustomerOrders.ts"
import { CurrentActor, mayNameCustomers } from "../platform/access/Actor.ts"
import { CheckoutFailed } from "../platform/errors/ApiErrors.ts"
import type { CustomerId } from "../platform/ids/Id.ts"
import { StoreSettings } from "../platform/settings/StoreSettings.ts"
import { Prices } from "../pricing/Prices.ts"
import { type AppliedPromotions, applyPromotions } from "../promotions/AppliedPromotions.ts"
import { inCurrency, type PromotionRow, type PromotionUsage } from "../promotions/PromotionRules.ts"
import { Promotions } from "../promotions/Promotions.ts"
import type { Shipment } from "../shipping/ShippingRules.ts"
import { type Basket, buyerOf, type PricingRequest } from "./PricedCart.ts"
import { agreedTotal, type Buyer, linePrices, type OnUnsold, type PricedLine, refused } from "./PricedLines.ts"

/** Decides the price of a line. */

const candidates = Effect.map(
  Effect.all([Prices, Promotions]),
  ([prices, promotions]) => (cart: Basket, request: PricingRequest, { customerId }: Buyer, now: Date) =>
    Effect.all(
      {
        prices: prices.candidates(cart.lines, cart.currency, now),
        promotions: promotions.candidates(request.promotionCodes ?? [], customerId, cart.email)
      },
      { concurrency: "unbounded" }
    )
)

/** Prices lines and applies promotions to them. */
export const discounting = Effect.gen(function*() {
  const [findCandidates, priced] = yield* Effect.all([candidates, linePrices])
  const [customers, history, settings] = yield* Effect.all([Customers, CustomerOrders, StoreSettings])

  const findBuyer = Effect.fnUntraced(function*(cart: Basket, request: PricingRequest, visitor: CustomerId | null) {
    const actor = yield* CurrentActor
    const { named: sent, own } = buyerOf(actor, request.customerId, visitor)
    const named = sent === null
      ? null
      : yield* Effect.mapError(
        customers.mustExist(sent),
        () => CheckoutFailed.of(`Unknown customer ${sent}.`, { reason: "unknown_customer", field: "customerId" })
      )
    const customerId = named ?? cart.customerId ?? own
    const { groupIds, profile } = customerId === null || customerId === cart.customerId
      ? { groupIds: cart.customerGroupIds, profile: cart.profile ?? null }
      : yield* customers.buyer(customerId)
    const groups = mayNameCustomers(actor) && request.customerGroupIds !== undefined
      ? request.customerGroupIds
      : groupIds
    const { isList = false, metadata = {} } = request
    return { customerId, groups, profile, isList, metadata } satisfies Buyer
  })

  const discounted = Effect.fnUntraced(function*(
    cart: Basket,
    request: PricingRequest,
    own: CustomerId | null,
    onUnsold: OnUnsold = refused
  ) {
    const now = DateTime.toDateUtc(yield* DateTime.now)
    const buyer = yield* findBuyer(cart, request, own)
    const found = cart.candidates ?? (yield* findCandidates(cart, request, buyer, now))
    const lines = yield* priced(cart, buyer, found.prices, now, onUnsold)
    const orderCount = found.promotions.some(({ promotion }) => promotion.conditions.firstOrderOnly === true)
      ? (yield* history.countOf(buyer.customerId)) - (cart.used === undefined ? 0 : 1)
      : 0
    const isKnown = buyer.customerId !== null || (cart.email ?? "").trim() !== ""
    const places = lines.flatMap((line, index) => line.storedValue ? [] : [index])
    const goods = lines.filter((line) => !line.storedValue)
    const subtotal = goods.reduce((sum, line) => sum + agreedTotal(line), 0)
    const applied = atPlaces(places)(applyPromotions({
      promotions: found.promotions.map(({ promotion }) => inCurrency(promotion, settings.defaultCurrency)),
      codes: request.promotionCodes ?? [],
      lines: goods.map((line) => ({ ...line, totalPrice: agreedTotal(line) })),
      subtotal,
      currency: cart.currency,
      customer: { isKnown, groupIds: buyer.groups, orderCount },
      usage: new Map(
        found.promotions.map(({ promotion, usage }) => [promotion.id, byOthers(usage, promotion, cart)])
      ),
      now
    }))
    const shipment = shipmentOf(cart, request, lines, subtotal, applied)
    return { buyer, lines, found, applied, shipment }
  })

  return discounted
})

export type Discounted = Effect.Success<ReturnType<Effect.Success<typeof discounting>>>

/** Promotions of some lines, by the places of these among all lines. */
const atPlaces = (places: ReadonlyArray<number>) => ({ applied, ...rest }: AppliedPromotions): AppliedPromotions => ({
  ...rest,
  applied: applied.map(({ eligibleLines, ...one }) => ({
    ...one,
    eligibleLines: eligibleLines && eligibleLines.flatMap((index) => places[index] ?? [])
  }))
})

/** The usage of a promotion without that of the edited order. */
const byOthers = (usage: PromotionUsage, { id }: PromotionRow, { used }: Basket): PromotionUsage =>
  used?.includes(id) === true ? { total: usage.total - 1, byCustomer: usage.byCustomer - 1 } : usage

const weightOf = ({ quantity, ships, weightGrams }: PricedLine): number =>
  ships ? Math.max(0, weightGrams) * quantity : 0

const shipmentOf = (
  cart: Basket,
  request: PricingRequest,
  lines: ReadonlyArray<PricedLine>,
  subtotal: number,
  applied: AppliedPromotions
): Shipment => ({
  currency: cart.currency,
  address: request.shippingAddress ?? null,
  subtotalAfterDiscount: subtotal - applied.discountTotal,
  weightGrams: lines.reduce((grams, line) => grams + weightOf(line), 0),
  shipsNothing: !lines.some(({ ships }) => ships),
  freeByPromotion: applied.freeShipping,
  rateId: request.shippingRateId ?? null
})
