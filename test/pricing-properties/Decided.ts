import { Effect, Layer } from "effect"
import { chosenLine } from "../../src/domain/carts/Line.ts"
import { CatalogSettings } from "../../src/domain/catalog/CatalogSettings.ts"
import { CheckoutPricing } from "../../src/domain/checkout/CheckoutPricing.ts"
import type { Basket, PricedCart } from "../../src/domain/checkout/PricedCart.ts"
import { Customers } from "../../src/domain/customers/Customers.ts"
import { CustomerOrders } from "../../src/domain/orders/CustomerOrders.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { newId, type TaxClassId } from "../../src/domain/platform/ids/Id.ts"
import { StoreSettings } from "../../src/domain/platform/settings/StoreSettings.ts"
import { emptyLinePricings, LinePricings, type LineToPrice } from "../../src/domain/pricing/LinePricing.ts"
import { PriceRepo } from "../../src/domain/pricing/PriceRepo.ts"
import { Prices } from "../../src/domain/pricing/Prices.ts"
import { PriceCandidateRepo, type PriceCandidates } from "../../src/domain/pricing/PriceStatements.ts"
import type { Promotion } from "../../src/domain/promotions/Promotion.ts"
import { Promotions } from "../../src/domain/promotions/Promotions.ts"
import { ShippingSettings } from "../../src/domain/shipping/RateAdapter.ts"
import { ShippingPrices } from "../../src/domain/shipping/ShippingPrices.ts"
import { ShippingRuleCache } from "../../src/domain/shipping/ShippingRepo.ts"
import { percentOfBps } from "../../src/domain/tax/Percent.ts"
import { TaxSettings } from "../../src/domain/tax/TaxAdapter.ts"
import { Taxes } from "../../src/domain/tax/Taxes.ts"
import { TaxExemptions } from "../../src/domain/tax/TaxExemptions.ts"
import { TaxRuleCache } from "../../src/domain/tax/TaxRepo.ts"
import type { TaxRules } from "../../src/domain/tax/TaxRules.ts"
import { defaultCurrency, groupIn, type Shop, type ShopTax, type Wish } from "./Shop.ts"

const then = new Date(0)
const always = { validFrom: null, validUntil: null }

const candidatesOf = ({ groups, modifiers, products }: Shop): PriceCandidates => ({
  prices: products.flatMap(({ id, prices, variantId }) =>
    prices.map(({ amount, currency, group, minQuantity, ofVariant }) => ({
      ...always,
      customerGroupId: groupIn(groups, group),
      id: newId(),
      entityId: id,
      variantId: ofVariant ? variantId : null,
      currency,
      amount,
      compareAtAmount: null,
      minQuantity,
      maxQuantity: null,
      createdAt: then
    }))
  ),
  modifiers: modifiers.map(({ group, minSubtotal, product, ...one }) => ({
    ...always,
    customerGroupId: groupIn(groups, group),
    ...one,
    id: newId(),
    name: one.type,
    entityId: product === null ? null : products[product]?.id ?? null,
    variantId: null,
    maxQuantity: null,
    conditions: minSubtotal === null ? {} : { minSubtotal }
  })),
  entities: new Map(products.map(({ id, type }) => [id, { type, slug: id, basePrice: null }]))
})

const promotionsOf = ({ promotions }: Shop): ReadonlyArray<Promotion> =>
  promotions.map((one) => ({
    ...one,
    id: newId(),
    organizationId: "org_default",
    name: one.code,
    isActive: true,
    usageLimitTotal: null,
    usageLimitPerCustomer: null,
    usedCount: 0,
    validFrom: null,
    validUntil: null,
    metadata: {},
    createdAt: then,
    updatedAt: then
  }))

/** A plugin that adds the steps of the shop's products. */
const pluginOf = ({ products }: Shop) => {
  const pricings = emptyLinePricings()
  const steps = new Map(products.map(({ id, steps }) => [id, steps]))
  const stepsOf = ({ entityId }: LineToPrice) =>
    (steps.get(entityId) ?? []).map(({ perLine, perUnit, taxable }) => ({
      code: "step",
      label: "Step",
      amountPerUnit: perUnit,
      amountPerLine: perLine,
      taxable
    }))
  return Effect.as(pricings.register(({ lines }) => Effect.succeed(lines.map(stepsOf))), pricings)
}

const cached = <A>(value: A) => ({ value: Effect.succeed(value), forget: Effect.void })

/** The rules of a shop as the process remembers them, the rates by amount. */
const shippingRules = ({ zones }: Shop) => ({
  zones,
  rates: zones.flatMap(({ id, rates }) =>
    rates.map((rate) => ({
      ...rate,
      zoneId: id,
      name: rate.id,
      maxSubtotal: null,
      minWeightGrams: null,
      taxClassId: null
    }))
  ).toSorted((one, other) => one.amount - other.amount)
})

const taxClassIds = new Map<string, TaxClassId>()

const taxClassId = (name: string): TaxClassId => {
  const id = taxClassIds.get(name) ?? newId<TaxClassId>()
  taxClassIds.set(name, id)
  return id
}

const taxRules = ({ classes, rates }: Pick<ShopTax, "classes" | "rates">): TaxRules => ({
  classes: classes.map(({ isDefault, name, rateBps }) => ({
    id: taxClassId(name),
    slug: name,
    name,
    rate: percentOfBps(rateBps),
    isDefault
  })),
  rates: rates.map(({ rateBps, ...rate }, n) => ({
    ...rate,
    id: newId(),
    name: `Tax ${n}`,
    taxClassId: null,
    postalCode: null,
    rate: percentOfBps(rateBps),
    validFrom: null,
    validUntil: null,
    compound: false,
    priority: 100
  }))
})

/** All that decides an order of this shop, without a database: its rows are there already. */
const decisionsOf = (shop: Shop) => {
  const [candidates, promotions] = [candidatesOf(shop), promotionsOf(shop)]
  const usage = { total: 0, byCustomer: 0 }
  const { classes, included, rates, shippingByDefaultClass } = shop.tax
  return CheckoutPricing.layer.pipe(
    Layer.provide([Prices.layer, ShippingPrices.layer, Taxes.layer, TaxExemptions.layer]),
    Layer.provide([
      Layer.mock(PriceRepo)({}),
      Layer.mock(PriceCandidateRepo)({ candidates: () => Effect.succeed(candidates) }),
      Layer.mock(Promotions)({
        // The repository finds all named promotions; asking for more changes nothing.
        candidates: () => Effect.succeed(promotions.map((promotion) => ({ promotion, usage })))
      }),
      Layer.mock(Customers)({}),
      Layer.mock(CustomerOrders)({ countOf: () => Effect.succeed(0) }),
      Layer.succeed(ShippingRuleCache, cached(shippingRules(shop))),
      Layer.succeed(TaxRuleCache, cached(taxRules({ classes, rates }))),
      StoreSettings.layerOf({ defaultCurrency }),
      ShippingSettings.layerOf({ configured: { type: "flat", flatRate: shop.flatRate } }),
      TaxSettings.layerOf({ pricesIncludeTax: () => included, shippingByDefaultClass }),
      Layer.effect(LinePricings, pluginOf(shop)),
      CatalogSettings.layerOf({}),
      Hooks.layerNone
    ])
  )
}

const basketOf = (shop: Shop, { currency, groups, lines }: Wish): Basket => ({
  currency,
  customerId: null,
  email: null,
  customerGroupIds: groups.flatMap((group) => groupIn(shop.groups, group) ?? []),
  secretHash: "",
  lines: lines.flatMap(({ product, quantity }) => {
    const sold = shop.products[product]
    return sold === undefined ? [] : [{
      ...chosenLine({ entityId: sold.id, variantId: sold.variantId, quantity }),
      entityType: sold.type,
      available: true,
      backorders: 0,
      title: sold.id,
      variantTitle: null,
      options: [],
      sku: null,
      slug: null,
      image: null,
      counted: true,
      categorySlugs: sold.category === null ? [] : [sold.category],
      weightGrams: sold.weightGrams,
      taxClass: sold.taxClass,
      taxClassId: sold.taxClass === null ? null : taxClassId(sold.taxClass)
    }]
  })
})

/** The address of a wish as requests write it. */
export const addressOf = ({ address }: Wish) =>
  address === null ? null : { ...address, line1: "1 Main St", city: "Town", postalCode: "1000" }

/** What the service decides for each cart of a shop, or says against it: the steps of quote and checkout, no database. */
export const decided = (
  shop: Shop,
  wishes: ReadonlyArray<Wish>
): Effect.Effect<ReadonlyArray<PricedCart | string>> =>
  Effect.gen(function*() {
    const { price } = yield* CheckoutPricing
    return yield* Effect.forEach(wishes, (wish) => {
      const request = { promotionCodes: wish.codes, shippingAddress: addressOf(wish), shippingRateId: wish.rateId }
      return Effect.catch(price(basketOf(shop, wish), request, null), ({ error }) => Effect.succeed(error.message))
    })
  }).pipe(
    Effect.provide(decisionsOf(shop)),
    Effect.provideService(CurrentActor, systemActor("org_default"))
  )
