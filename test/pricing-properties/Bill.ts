import { discountsPerLine, namedCodes, offerOf, type PricedLine } from "./Offer.ts"
import { halfUp, sharesOf, sumOf } from "./Shares.ts"
import { digitalTypes, type Shop, type ShopProduct, type ShopTax, type Wish } from "./Shop.ts"
import { unitPriceOf } from "./UnitPrice.ts"

/** What a cart has to cost, to the unit. */
export interface Bill {
  readonly currency: string
  readonly lines: ReadonlyArray<{
    readonly unitPrice: number
    readonly totalPrice: number
    readonly discountAmount: number
    readonly taxAmount: number
  }>
  readonly applied: ReadonlyArray<readonly [code: string, discountAmount: number]>
  /** Codes that were named and gave nothing, sorted. */
  readonly rejected: ReadonlyArray<string>
  readonly subtotal: number
  readonly discountTotal: number
  readonly shippingTotal: number
  readonly taxTotal: number
  readonly taxIncluded: boolean
  readonly grandTotal: number
}

/** A refused order that has a price: no zone serves the address, or the chosen rate does not fit. */
export const unserved = "unserved"

/** Steps of a plugin would bring a price below zero. */
export const unpriced = "unpriced"

const sameplace = (one: string | null, other: string): boolean =>
  (one ?? "").trim().toUpperCase() === other.trim().toUpperCase()

interface Shipped {
  readonly lines: ReadonlyArray<PricedLine>
  readonly net: bigint
  readonly free: boolean
}

/** Contract §3.4; docs/tax-and-shipping.md. */
const shippingOf = (shop: Shop, wish: Wish, { free, lines, net }: Shipped): bigint | typeof unserved => {
  if (lines.every(({ product }) => digitalTypes.includes(product.type))) return wish.rateId === null ? 0n : unserved
  const { address } = wish
  if (address === null || shop.zones.length === 0) {
    return wish.rateId !== null ? unserved : free ? 0n : BigInt(shop.flatRate)
  }
  const grams = sumOf(lines.map(({ product, units }) => BigInt(product.weightGrams) * units))
  const fitting = shop.zones
    .filter(({ countries, states }) =>
      (countries.includes("*") || countries.some((one) => sameplace(address.country, one))) &&
      (states === null || states.some((one) => sameplace(address.state, one)))
    )
    .map(({ rates }) =>
      rates.filter((rate) =>
        rate.currency === wish.currency && net >= BigInt(rate.minSubtotal ?? 0) &&
        (rate.maxWeightGrams === null || grams <= BigInt(rate.maxWeightGrams))
      ).toSorted((one, other) => one.amount - other.amount)
    )
    .find((rates) => rates.length > 0) ?? []
  const rate = wish.rateId === null ? fitting[0] : fitting.find(({ id }) => id === wish.rateId)
  if (rate === undefined) return unserved
  const threshold = rate.freeShippingThreshold
  return free || (threshold !== null && net >= BigInt(threshold)) ? 0n : BigInt(rate.amount)
}

/** Tax on top of an amount, or the part of it that is tax. */
const taxOn = (amount: bigint, rateBps: number, included: boolean): bigint =>
  halfUp(amount * BigInt(rateBps), BigInt(included ? 10_000 + rateBps : 10_000))

interface Tax {
  readonly ofLines: ReadonlyArray<bigint>
  readonly ofShipping: bigint
}

/** Each class is a rate over all of its goods. */
const byClasses = (tax: ShopTax, lines: ReadonlyArray<PricedLine>, nets: ReadonlyArray<bigint>, shipping: bigint) => {
  const usual = tax.classes.find(({ isDefault }) => isDefault)
  const classOf = ({ product }: PricedLine) => tax.classes.find(({ name }) => name === product.taxClass) ?? usual
  const parts = tax.classes.map((one) => {
    const rates = [{ country: "", state: null, rateBps: one.rateBps, appliesToShipping: true }]
    const goods = nets.map((net, index) => lines[index] && classOf(lines[index]) === one ? net : 0n)
    return byRegion(rates, tax.included, goods, tax.shippingByDefaultClass && one === usual ? shipping : 0n)
  })
  return {
    ofLines: nets.map((_, index) => sumOf(parts.map(({ ofLines }) => ofLines[index] ?? 0n))),
    ofShipping: sumOf(parts.map(({ ofShipping }) => ofShipping))
  }
}

const byRegion = (rates: ShopTax["rates"], included: boolean, nets: ReadonlyArray<bigint>, shipping: bigint): Tax => {
  const totalOf = (some: ShopTax["rates"]) => some.reduce((sum, { rateBps }) => sum + rateBps, 0)
  if (included) {
    return {
      ofLines: sharesOf(taxOn(sumOf(nets), totalOf(rates), true), nets),
      ofShipping: taxOn(shipping, totalOf(rates.filter(({ appliesToShipping }) => appliesToShipping)), true)
    }
  }
  const parts = rates.map(({ appliesToShipping, rateBps }) => {
    const taxed = [...nets, appliesToShipping ? shipping : 0n]
    return sharesOf(taxOn(sumOf(taxed), rateBps, false), taxed)
  })
  return {
    ofLines: nets.map((_, index) => sumOf(parts.map((part) => part[index] ?? 0n))),
    ofShipping: sumOf(parts.map((part) => part[nets.length] ?? 0n))
  }
}

/** Contract §3.5; docs/tax-and-shipping.md. */
const taxOf = (
  { tax }: Shop,
  { address }: Wish,
  lines: ReadonlyArray<PricedLine>,
  nets: ReadonlyArray<bigint>,
  shipping: bigint
): Tax => {
  if (tax.classes.length > 0) return byClasses(tax, lines, nets, shipping)
  const inCountry = address === null ? [] : tax.rates.filter(({ country }) => sameplace(address.country, country))
  const ofState = inCountry.filter(({ state }) => state !== null && sameplace(address?.state ?? null, state))
  const rates = ofState.length > 0 ? ofState : inCountry.filter(({ state }) => state === null)
  return rates.length > 0
    ? byRegion(rates, tax.included, nets, shipping)
    : { ofLines: nets.map(() => 0n), ofShipping: 0n }
}

/** What steps add to a unit, and to a line besides. */
const stepsOf = (steps: ShopProduct["steps"]): readonly [perUnit: bigint, perLine: bigint] => [
  sumOf(steps.map(({ perUnit }) => BigInt(perUnit))),
  sumOf(steps.map(({ perLine }) => BigInt(perLine)))
]

/** What is left of a line after discount, without the share of its steps that bear no tax. */
const taxedOf = ({ product, total, units }: PricedLine, net: bigint): bigint => {
  const [perUnit, perLine] = stepsOf(product.steps.filter(({ taxable }) => !taxable))
  const exempt = perUnit * units + perLine
  return exempt === 0n ? net : sharesOf(net, exempt < total ? [total - exempt, exempt] : [0n, total])[0] ?? 0n
}

/** What a cart costs by the rules of the contract (§3.3-3.5, §7.3, §8), or that it cannot be shipped. */
export const billOf = (shop: Shop, wish: Wish): Bill | typeof unserved | typeof unpriced => {
  const lines = wish.lines.flatMap(({ product: index, quantity }) => {
    const product = shop.products[index]
    if (product === undefined) return []
    const units = BigInt(quantity)
    const [perUnit, perLine] = stepsOf(product.steps)
    const unitPrice = unitPriceOf(shop, wish, index, quantity) + perUnit
    return [{ product, units, unitPrice, total: unitPrice * units + perLine }]
  })
  if (lines.some(({ total, unitPrice }) => unitPrice < 0n || total < 0n)) return unpriced
  const totals = lines.map(({ total }) => total)
  const offer = offerOf(shop, lines, wish.codes, wish.currency)
  const subtotal = sumOf(totals)
  const net = subtotal - offer.discountTotal
  const shipping = shippingOf(shop, wish, { lines, net, free: offer.freeShipping })
  if (shipping === unserved) return unserved
  const discounts = discountsPerLine(totals, offer)
  const nets = totals.map((total, index) => total - (discounts[index] ?? 0n))
  const tax = taxOf(shop, wish, lines, lines.map((line, index) => taxedOf(line, nets[index] ?? 0n)), shipping)
  // The tax of shipping lies on the lines by what they cost, else by what they would have cost.
  const spread = sharesOf(tax.ofShipping, sumOf(nets) > 0n ? nets : totals)
  const taxTotal = sumOf(tax.ofLines) + tax.ofShipping
  const applied = offer.gains.map(({ amount, code }) => [code, Number(amount)] as const)
  return {
    currency: wish.currency,
    lines: lines.map(({ unitPrice, total }, index) => ({
      unitPrice: Number(unitPrice),
      totalPrice: Number(total),
      discountAmount: Number(discounts[index]),
      taxAmount: Number((tax.ofLines[index] ?? 0n) + (spread[index] ?? 0n))
    })),
    applied,
    rejected: namedCodes(wish.codes).filter((code) => !applied.some(([one]) => one === code)).toSorted(),
    subtotal: Number(subtotal),
    discountTotal: Number(offer.discountTotal),
    shippingTotal: Number(shipping),
    taxTotal: Number(taxTotal),
    taxIncluded: shop.tax.included,
    grandTotal: Number(net + shipping + (shop.tax.included ? 0n : taxTotal))
  }
}
