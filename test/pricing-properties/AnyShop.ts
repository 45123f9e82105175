import { newId, type VariantId } from "../../src/domain/platform/ids/Id.ts"
import type { PromotionType } from "../../src/domain/promotions/PromotionRules.ts"
import type { Chance } from "./Chance.ts"
import {
  isStoredValue,
  type Shop,
  type ShopModifier,
  type ShopPrice,
  type ShopProduct,
  type ShopPromotion,
  type ShopTax,
  type ShopTaxRate,
  type ShopZone,
  type Wish
} from "./Shop.ts"

type Money = readonly [currency: string, most: number]

/** Without decimals, with two and with three; and what a thing costs in them at most, in minor units. */
const currencies: readonly [Money, ...ReadonlyArray<Money>] = [["JPY", 20_000], ["USD", 99_999], ["KWD", 999_999]]

/** Amounts at which a number with a decimal point would no longer hold the products of the rates. */
const huge = 1_000_000_000_000

/** A shop has two groups of customers; a customer may be in both. */
const groupNumbers = [0, 1] as const

const types = [
  "product",
  "product",
  "product",
  "book",
  "digitalDownload",
  "service",
  "gift_card",
  "voucher",
  "pass"
] as const
const categories = [null, "shoes", "hats"] as const
const classNames = [null, null, "reduced", "books", "unknown"] as const
const bps = [0, 550, 700, 777, 825, 997.5, 1_000, 1_900, 2_100, 2_500] as const

const anyPrices = (chance: Chance, hasVariant: boolean, withHuge: boolean): ReadonlyArray<ShopPrice> =>
  currencies.flatMap(([currency, most]) => {
    const amount = () =>
      chance.inHundred(4) ? 0 : withHuge && chance.inHundred(2) ? chance.between(1, huge) : chance.between(1, most)
    const usual: ShopPrice = { currency, amount: amount(), minQuantity: null, ofVariant: false, group: null }
    const many: ShopPrice = { ...usual, amount: amount(), minQuantity: chance.between(2, 6) }
    const members: ShopPrice = { ...usual, amount: amount(), group: chance.oneOf(groupNumbers) }
    return [
      usual,
      ...(chance.inHundred(30) ? [many] : []),
      ...(chance.inHundred(30) ? [members] : []),
      ...(hasVariant && chance.inHundred(60) ? [{ ...usual, amount: amount(), ofVariant: true }] : [])
    ]
  })

/** A modifier, a discount of a plugin, a fee for the line and a deposit without tax; each only now and then. */
const anySteps = (chance: Chance): ShopProduct["steps"] =>
  [
    { perUnit: chance.between(0, 300), perLine: 0, taxable: true },
    { perUnit: -chance.between(1, 40), perLine: 0, taxable: true },
    { perUnit: 0, perLine: chance.between(-20, 500), taxable: true },
    { perUnit: chance.between(0, 50), perLine: chance.between(0, 100), taxable: false }
  ].filter(() => chance.inHundred(30))

const anyProduct = (chance: Chance, kind: ShopKind): ShopProduct => {
  const variantId = chance.inHundred(20) ? newId<VariantId>() : null
  const type = chance.oneOf(types)
  return {
    id: newId(),
    variantId,
    type,
    category: chance.oneOf(categories),
    weightGrams: chance.inHundred(30) ? 0 : chance.between(1, 3_000),
    taxClass: chance.oneOf(classNames),
    prices: anyPrices(chance, variantId !== null, kind.withHuge),
    steps: kind.withSteps === true && !isStoredValue({ type }) ? anySteps(chance) : []
  }
}

const anyModifier = (chance: Chance, priority: number, products: number): ShopModifier => {
  const [currency, most] = chance.oneOf(currencies)
  const type = chance.oneOf(
    ["percentage_discount", "percentage_discount", "fixed_discount", "markup", "percentage_markup", "override"] as const
  )
  const percentage = type.startsWith("percentage")
  return {
    type,
    value: percentage ? chance.between(0, 60) : chance.between(0, Math.ceil(most / 10)),
    currency: percentage && chance.inHundred(50) ? null : currency,
    priority,
    product: type === "override" || chance.inHundred(50) ? chance.between(0, products - 1) : null,
    group: chance.inHundred(25) ? chance.oneOf(groupNumbers) : null,
    minQuantity: chance.inHundred(25) ? chance.between(2, 5) : null,
    minSubtotal: chance.inHundred(15) ? chance.between(1, most) : null
  }
}

const promotionTypes: readonly [PromotionType, ...ReadonlyArray<PromotionType>] = [
  "percentage_off_order",
  "percentage_off_order",
  "fixed_off_order",
  "percentage_off_item",
  "fixed_off_item",
  "free_shipping",
  "buy_x_get_y"
]

const anyPromotion = (chance: Chance, priority: number): ShopPromotion => {
  const [currency, most] = chance.oneOf(currencies)
  const type = chance.oneOf(promotionTypes)
  return {
    code: `CODE${priority}`,
    type,
    value: type.startsWith("percentage")
      ? chance.between(0, chance.oneOf([800, 4_000])) / 40
      : type.startsWith("fixed")
      ? chance.between(0, Math.ceil(most / 4))
      : 0,
    currency: chance.inHundred(30) ? null : currency,
    buyQuantity: chance.between(1, 3),
    getQuantity: chance.between(1, 2),
    isAutomatic: chance.inHundred(35),
    stackable: !chance.inHundred(25),
    priority,
    conditions: {
      ...(chance.inHundred(15) ? { minimumOrderValue: chance.between(1, most * 3) } : {}),
      ...(chance.inHundred(15) ? { minimumQuantity: chance.between(1, 8) } : {}),
      ...(chance.inHundred(20) ? { entityTypes: [chance.oneOf(["product", "book"])] } : {}),
      ...(chance.inHundred(20) ? { categories: ["shoes"] } : {})
    }
  }
}

const anyZone = (chance: Chance, countries: ReadonlyArray<string>, states: ReadonlyArray<string> | null): ShopZone => ({
  id: newId(),
  countries,
  states,
  rates: currencies.flatMap(([currency, most]) => {
    const step = Math.ceil(most / 40)
    return chance.someOf([1, 2, 3], 70).map((turn) => ({
      id: newId(),
      currency,
      amount: chance.between((turn - 1) * step + 1, turn * step),
      minSubtotal: chance.inHundred(20) ? chance.between(1, most) : null,
      maxWeightGrams: chance.inHundred(20) ? chance.between(500, 20_000) : null,
      freeShippingThreshold: chance.inHundred(25) ? chance.between(1, most * 5) : null,
      taxClass: chance.inHundred(25) ? chance.oneOf(["standard", "reduced"]) : null
    }))
  })
})

type Age = Pick<ShopTaxRate, "inForce" | "validFrom" | "validUntil">

const ages: readonly [Age, ...ReadonlyArray<Age>] = [
  { inForce: false, validFrom: null, validUntil: new Date("2020-01-01T00:00:00Z") },
  { inForce: false, validFrom: new Date("2099-01-01T00:00:00Z"), validUntil: null },
  { inForce: true, validFrom: new Date("2020-01-01T00:00:00Z"), validUntil: new Date("2099-01-01T00:00:00Z") }
]
const always: Age = { inForce: true, validFrom: null, validUntil: null }

const places: ReadonlyArray<readonly [country: string | null, state: string | null]> = [
  ["US", null],
  ["US", "CA"],
  ["US", "CA"],
  ["DE", null],
  ["DE", null],
  [null, null]
]

const anyRate = (chance: Chance, n: number, [country, state]: typeof places[number], byClass: boolean): ShopTaxRate => {
  const compound = chance.inHundred(25)
  return {
    country,
    state,
    taxClass: byClass && chance.inHundred(60) ? chance.oneOf(["standard", "reduced", "books"]) : null,
    rateBps: chance.oneOf(bps),
    compound,
    priority: compound ? 200 + n : chance.oneOf([100, 300]),
    appliesToShipping: chance.inHundred(60),
    ...(chance.inHundred(25) ? chance.oneOf(ages) : always)
  }
}

const anyTax = (chance: Chance, by: ShopKind["tax"], included: boolean): ShopTax => {
  const hasClasses = by === "classes" || by === "both"
  const ofPlaces = by === "regions" ? places.slice(0, -1) : by === "both" ? [...places, ...places] : []
  return {
    included,
    shippingByDefaultClass: chance.inHundred(50),
    classes: !hasClasses ? [] : [
      { name: "standard", rateBps: chance.oneOf(bps), isDefault: chance.inHundred(85) },
      { name: "reduced", rateBps: chance.oneOf(bps), isDefault: false },
      { name: "books", rateBps: chance.oneOf(bps), isDefault: false }
    ],
    rates: chance.someOf(ofPlaces, 70).map((place, n) => anyRate(chance, n, place, hasClasses))
  }
}

/** What a shop is to be like; the rest is left to chance. */
export interface ShopKind {
  /** Rates of classes, of places, or of both. */
  readonly tax: "classes" | "regions" | "both" | "nothing"
  readonly included: boolean
  readonly products: number
  /** Some prices are so high that their sums pass the exact range of a floating-point product. */
  readonly withHuge: boolean
  /** A plugin adds steps to the prices of some products. */
  readonly withSteps?: boolean
}

/** A shop with products of all types, in three currencies, with modifiers, promotions, zones and taxes. */
export const anyShop = (chance: Chance, kind: ShopKind): Shop => {
  const zones = [
    anyZone(chance, ["US"], ["CA"]),
    anyZone(chance, ["US", "DE"], null),
    ...(chance.inHundred(50) ? [anyZone(chance, ["*"], null)] : [])
  ]
  return {
    groups: groupNumbers.map(() => newId()),
    products: Array.from({ length: kind.products }, () => anyProduct(chance, kind)),
    modifiers: chance.someOf([1, 2, 3, 4], 60).map((priority) => anyModifier(chance, priority, kind.products)),
    promotions: Array.from({ length: 8 }, (_, n) => anyPromotion(chance, n + 1)),
    zones: chance.inHundred(80) ? zones : [],
    flatRate: chance.inHundred(30) ? 0 : chance.between(1, 2_000),
    tax: anyTax(chance, kind.tax, kind.included)
  }
}

const destinations = [
  null,
  { country: "US", state: "CA" },
  { country: "us", state: " ca " },
  { country: "US", state: "TX" },
  { country: "DE", state: null },
  { country: "JP", state: null }
] as const

/** A cart of a shop with what its buyer says at the checkout. */
export const anyWish = (chance: Chance, shop: Shop): Wish => {
  const most = chance.oneOf([1, 3, 3, 8])
  const products = chance.someOf(shop.products.map((_, product) => product), chance.oneOf([25, 60])).slice(0, most)
  const rates = shop.zones.flatMap((zone) => zone.rates.map(({ id }) => id))
  const [currency, costly] = chance.oneOf(currencies)
  return {
    exempt: chance.inHundred(15),
    card: chance.inHundred(25) ? chance.between(1, costly * 3) : 0,
    alreadyTaxed: chance.inHundred(40) ? chance.between(1, costly * 3) : 0,
    groups: chance.inHundred(50) ? [] : chance.someOf(groupNumbers, 60),
    currency,
    lines: (products.length > 0 ? products : [0]).map((product) => ({
      product,
      quantity: chance.inHundred(10) ? chance.between(10, 60) : chance.between(1, 7)
    })),
    codes: [
      ...chance.someOf(shop.promotions.map(({ code }) => chance.inHundred(50) ? code : ` ${code.toLowerCase()}`), 30),
      ...(chance.inHundred(10) ? ["BOGUS"] : [])
    ],
    address: chance.oneOf(destinations),
    rateId: chance.inHundred(15) ? rates[chance.between(0, rates.length - 1)] ?? null : null
  }
}
