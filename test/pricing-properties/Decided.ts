import { Effect, Layer } from "effect"
import { chosenLine } from "../../src/domain/carts/Line.ts"
import { CatalogSettings } from "../../src/domain/catalog/CatalogSettings.ts"
import { policyOf } from "../../src/domain/catalog/TypePolicy.ts"
import type { AlreadyTaxed } from "../../src/domain/checkout/AlreadyTaxed.ts"
import { type CartTotals, cartTotals } from "../../src/domain/checkout/CartTotals.ts"
import { noTerms } from "../../src/domain/checkout/CheckoutExtension.ts"
import { CheckoutPricing } from "../../src/domain/checkout/CheckoutPricing.ts"
import type { Basket, PricedCart } from "../../src/domain/checkout/PricedCart.ts"
import { Customers } from "../../src/domain/customers/Customers.ts"
import { CustomerOrders } from "../../src/domain/orders/CustomerOrders.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { countryCode, formatOf } from "../../src/domain/platform/addresses/CountryFormats.ts"
import type { CheckoutFailed } from "../../src/domain/platform/errors/ApiErrors.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { type CartLineId, type CustomerId, newId, type TaxClassId } from "../../src/domain/platform/ids/Id.ts"
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
import { defaultCurrency, groupIn, policies, type Shop, type ShopTax, type Wish } from "./Shop.ts"

const then = new Date(0)

/** The customer who pays no tax. */
const exemptId = newId<CustomerId>()
const exemption = { reason: "Public school", number: null, validUntil: null }

const shownId = newId<CartLineId>()
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
    rates.map(({ taxClass, ...rate }) => ({
      ...rate,
      zoneId: id,
      name: rate.id,
      maxSubtotal: null,
      minWeightGrams: null,
      taxClassId: taxClass === null ? null : taxClassId(taxClass),
      estimate: null
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
  rates: rates.map(({ rateBps, taxClass, ...rate }, n) => ({
    ...rate,
    id: newId(),
    name: `Tax ${n}`,
    taxClassId: taxClass === null ? null : taxClassId(taxClass),
    postalCode: null,
    rate: percentOfBps(rateBps)
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
      Layer.mock(Customers)({ exemptionOf: (id) => Effect.succeed(id === exemptId ? exemption : null) }),
      Layer.mock(CustomerOrders)({ countOf: () => Effect.succeed(0) }),
      Layer.succeed(ShippingRuleCache, cached(shippingRules(shop))),
      Layer.succeed(TaxRuleCache, cached(taxRules({ classes, rates }))),
      StoreSettings.layerOf({ defaultCurrency }),
      ShippingSettings.layerOf({ configured: { type: "flat", flatRate: shop.flatRate } }),
      TaxSettings.layerOf({ pricesIncludeTax: () => included, shippingByDefaultClass }),
      Layer.effect(LinePricings, pluginOf(shop)),
      CatalogSettings.layerOf({ types: policies }),
      Hooks.layerNone
    ])
  )
}

const basketOf = (shop: Shop, { currency, exempt, groups, lines }: Wish): Basket => ({
  currency,
  customerId: exempt ? exemptId : null,
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
      counted: policyOf(policies, sold.type).manageInventory,
      shown: { id: shownId, units: 0, isLow: false, waiting: 0 },
      categorySlugs: sold.category === null ? [] : [sold.category],
      weightGrams: sold.weightGrams,
      taxClass: sold.taxClass,
      taxClassId: sold.taxClass === null ? null : taxClassId(sold.taxClass)
    }]
  })
})

/** The address of a wish as requests write it. */
export const addressOf = ({ address }: Wish) =>
  address === null
    ? null
    : {
      ...address,
      line1: "1 Main St",
      city: "Town",
      postalCode: formatOf(countryCode(address.country) ?? "US").postalCode?.example ?? null
    }

/** A price for quotes and checkouts, and the totals that the cart shows, or the refusals. */
export interface Decision {
  readonly sold: PricedCart | string
  readonly shown: CartTotals | string
}

const refusal = ({ error }: CheckoutFailed) => Effect.succeed(error.message)

/**
 * Prices each cart of a shop as a quote and a checkout do, and as the cart shows it, without a database. These paths join here:
 * above, they only read a `Basket` and a request, which the carts over HTTP compare.
 */
export const decided = (
  shop: Shop,
  wishes: ReadonlyArray<Wish>
): Effect.Effect<ReadonlyArray<Decision>> =>
  Effect.gen(function*() {
    const { preview, price } = yield* CheckoutPricing
    return yield* Effect.forEach(wishes, (wish) => {
      const request = { promotionCodes: wish.codes, shippingAddress: addressOf(wish), shippingRateId: wish.rateId }
      const basket = basketOf(shop, wish)
      const taxed: AlreadyTaxed = ({ most }) => Effect.succeed(Math.min(most, wish.alreadyTaxed))
      const shown = Effect.map(preview(basket, request, null, noTerms, taxed), (parts) =>
        cartTotals({ ...parts, estimated: false, missing: [], tenders: [] }))
      return Effect.all({
        sold: Effect.catch(price(basket, request, null, noTerms, taxed), refusal),
        shown: Effect.catch(shown, refusal)
      })
    })
  }).pipe(
    Effect.provide(decisionsOf(shop)),
    Effect.provideService(CurrentActor, systemActor("org_default"))
  )
