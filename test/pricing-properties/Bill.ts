import { discountsPerLine, namedCodes, offerOf, type PricedLine } from "./Offer.ts"
import { halfUp, least, sharesOf, sumOf } from "./Shares.ts"
import {
  isPayableByCard,
  isSamePlace,
  isSinglePurpose,
  isStoredValue,
  type Shop,
  type ShopProduct,
  unshippedTypes,
  type Wish
} from "./Shop.ts"
import { taxOf } from "./TaxDue.ts"
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

interface Shipped {
  readonly lines: ReadonlyArray<PricedLine>
  readonly net: bigint
  readonly free: boolean
}

/** What shipping costs, and the class of its tax. */
type Shipping = readonly [cost: bigint, taxClass: string | null]

/** Contract §3.4; docs/tax-and-shipping.md. */
const shippingOf = (shop: Shop, wish: Wish, { free, lines, net }: Shipped): Shipping | typeof unserved => {
  const shipped = lines.filter(({ product }) => !unshippedTypes.includes(product.type))
  if (shipped.length === 0) {
    return wish.rateId === null ? [0n, null] : unserved
  }
  const { address } = wish
  if (address === null || shop.zones.length === 0) {
    return wish.rateId !== null ? unserved : [free ? 0n : BigInt(shop.flatRate), null]
  }
  const grams = sumOf(shipped.map(({ product, units }) => BigInt(product.weightGrams) * units))
  const fitting = shop.zones
    .filter(({ countries, states }) =>
      (countries.includes("*") || countries.some((one) => isSamePlace(address.country, one))) &&
      (states === null || states.some((one) => isSamePlace(address.state, one)))
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
  const isFree = free || (threshold !== null && net >= BigInt(threshold))
  return [isFree ? 0n : BigInt(rate.amount), rate.taxClass]
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

/** Taxed amounts of lines, and last of shipping, without the shares of what was taxed before. */
const notTaxedBefore = (amounts: ReadonlyArray<bigint>, payable: ReadonlyArray<bigint>, before: bigint) => {
  const shares = sharesOf(least(before, sumOf(payable)), payable)
  return amounts.map((amount, index) => {
    const [part, share] = [payable[index] ?? 0n, shares[index] ?? 0n]
    return share === 0n ? amount : halfUp(amount * (part - share), part)
  })
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
  const subtotal = sumOf(totals)
  // Stored value is not discounted and not shipped.
  const goods = lines.filter(({ product }) => !isStoredValue(product))
  const costs = lines.map(({ product, total }) => isStoredValue(product) ? 0n : total)
  const offer = offerOf(shop, goods, wish.codes, wish.currency)
  const shipping = shippingOf(shop, wish, {
    lines: goods,
    net: sumOf(costs) - offer.discountTotal,
    free: offer.freeShipping
  })
  if (shipping === unserved) return unserved
  const [shippingCost, shippingClass] = shipping
  const ofGoods = discountsPerLine(goods.map(({ total }) => total), offer)
  const granted = lines.map((line) => ofGoods[goods.indexOf(line)] ?? 0n)
  const nets = costs.map((cost, index) => cost - (granted[index] ?? 0n))
  const full = lines.map((line, index) => isSinglePurpose(line.product) ? line.total : taxedOf(line, nets[index] ?? 0n))
  const payable = lines.map(({ product, total }, index) =>
    isPayableByCard(product) ? total - (granted[index] ?? 0n) : 0n
  )
  const amounts = notTaxedBefore([...full, shippingCost], [...payable, shippingCost], BigInt(wish.alreadyTaxed))
  const taxed = amounts.slice(0, -1)
  const tax = taxOf(shop, wish, lines, taxed, [amounts.at(-1) ?? 0n, shippingClass])
  // The tax of shipping lies on the goods by what they cost, else by what they would have cost.
  const bearing = sumOf(nets) > 0n ? nets : costs
  const spread = sharesOf(tax.ofShipping, goods.map((line) => bearing[lines.indexOf(line)] ?? 0n))
  const taxes = lines.map((line, index) => (tax.ofLines[index] ?? 0n) + (spread[goods.indexOf(line)] ?? 0n))
  // Exempt buyers do not pay the tax that prices contain: it is taken off lines and shipping.
  const { exempt } = wish
  const takenOff = shop.tax.included && exempt
  const discounts = granted.map((one, index) => one + (takenOff ? tax.ofLines[index] ?? 0n : 0n))
  const shippingTotal = shippingCost - (takenOff ? tax.ofShipping : 0n)
  const taxTotal = exempt ? 0n : sumOf(taxes)
  const applied = offer.gains.map(({ amount, code }) => [code, Number(amount)] as const)
  return {
    currency: wish.currency,
    lines: lines.map(({ unitPrice, total }, index) => ({
      unitPrice: Number(unitPrice),
      totalPrice: Number(total),
      discountAmount: Number(discounts[index]),
      taxAmount: exempt ? 0 : Number(taxes[index])
    })),
    applied,
    rejected: namedCodes(wish.codes).filter((code) => !applied.some(([one]) => one === code)).toSorted(),
    subtotal: Number(subtotal),
    discountTotal: Number(sumOf(discounts)),
    shippingTotal: Number(shippingTotal),
    taxTotal: Number(taxTotal),
    taxIncluded: shop.tax.included,
    grandTotal: Number(subtotal - sumOf(discounts) + shippingTotal + (shop.tax.included ? 0n : taxTotal))
  }
}

/** What gift cards may pay of a bill (contract-commerce §2). */
export const payableByCard = (shop: Shop, wish: Wish, { grandTotal, lines, taxIncluded }: Bill): number =>
  lines.reduce((left, { discountAmount, taxAmount, totalPrice }, index) => {
    const product = shop.products[wish.lines[index]?.product ?? -1]
    return product === undefined || isPayableByCard(product)
      ? left
      : left - totalPrice + discountAmount - (taxIncluded ? 0 : taxAmount)
  }, grandTotal)
