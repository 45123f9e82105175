import { halfUp, least, sharesOf, sumOf } from "./Shares.ts"
import { defaultCurrency, type Shop, type ShopProduct, type ShopPromotion } from "./Shop.ts"

/** A line at its price. */
export interface PricedLine {
  readonly product: ShopProduct
  readonly units: bigint
  readonly unitPrice: bigint
  readonly total: bigint
}

/** A promotion that gives something. */
export interface Gain {
  readonly code: string
  readonly amount: bigint
  readonly freeShipping: boolean
  /** Numbers of the lines it is for; null: the order. */
  readonly ofLines: ReadonlyArray<number> | null
}

/** What the promotions of an order come to. */
export interface Offer {
  readonly gains: ReadonlyArray<Gain>
  readonly discountTotal: bigint
  readonly freeShipping: boolean
}

/** Codes as they are compared, each once (contract §8.4). */
export const namedCodes = (codes: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(codes.map((code) => code.trim().toUpperCase()))
]

const ofItems = ["percentage_off_item", "fixed_off_item", "buy_x_get_y"]

const eligible = ({ conditions: { categories, entityTypes } }: ShopPromotion, { product }: PricedLine): boolean =>
  (entityTypes === undefined || entityTypes.includes(product.type)) &&
  (categories === undefined || (product.category !== null && categories.includes(product.category)))

/** The table of contract §8; percentages are 1/40 of a per cent. */
const given = (promotion: ShopPromotion, all: ReadonlyArray<PricedLine>, some: ReadonlyArray<PricedLine>): bigint => {
  const { buyQuantity, getQuantity, type, value } = promotion
  const percentOf = (lines: ReadonlyArray<PricedLine>) =>
    halfUp(sumOf(lines.map(({ total }) => total)) * BigInt(Math.round(value * 40)), 4_000n)
  const units = sumOf(some.map((line) => line.units))
  const cheapest = some.map(({ unitPrice }) => unitPrice).reduce<bigint | null>(
    (low, price) => low === null ? price : least(low, price),
    null
  ) ?? 0n
  switch (type) {
    case "percentage_off_order":
      return percentOf(all)
    case "fixed_off_order":
      return BigInt(value)
    case "percentage_off_item":
      return percentOf(some)
    case "fixed_off_item":
      return BigInt(value) * units
    case "buy_x_get_y":
      return units / BigInt(buyQuantity + getQuantity) * BigInt(getQuantity) * cheapest
    case "free_shipping":
      return 0n
  }
}

const gainOf = (promotion: ShopPromotion, lines: ReadonlyArray<PricedLine>, currency: string): Gain | undefined => {
  const { conditions, type } = promotion
  const subtotal = sumOf(lines.map(({ total }) => total))
  const some = lines.filter((line) => eligible(promotion, line))
  const asksForLines = ofItems.includes(type) || conditions.categories !== undefined ||
    conditions.entityTypes !== undefined
  if (type.startsWith("fixed") && (promotion.currency ?? defaultCurrency) !== currency) return undefined
  if (subtotal < BigInt(conditions.minimumOrderValue ?? 0)) return undefined
  if (sumOf(lines.map(({ units }) => units)) < BigInt(conditions.minimumQuantity ?? 0)) return undefined
  if (asksForLines && some.length === 0) return undefined
  const amount = least(given(promotion, lines, some), subtotal)
  const freeShipping = type === "free_shipping"
  if (amount === 0n && !freeShipping) return undefined
  const ofLines = ofItems.includes(type) ? lines.flatMap((line, index) => some.includes(line) ? [index] : []) : null
  return { code: promotion.code, amount, freeShipping, ofLines }
}

/** One after the other until the subtotal is used up. */
const upTo = (subtotal: bigint, gains: ReadonlyArray<Gain>): Offer => {
  let left = subtotal
  const granted = gains.flatMap((gain) => {
    const amount = least(gain.amount, left)
    left -= amount
    return amount > 0n || gain.freeShipping ? [{ ...gain, amount }] : []
  })
  return {
    gains: granted,
    discountTotal: subtotal - left,
    freeShipping: granted.some(({ freeShipping }) => freeShipping)
  }
}

/** All that stack, or the one that does not and saves more (contract §8.4). */
export const offerOf = (
  { promotions }: Shop,
  lines: ReadonlyArray<PricedLine>,
  codes: ReadonlyArray<string>,
  currency: string
): Offer => {
  const named = namedCodes(codes)
  const subtotal = sumOf(lines.map(({ total }) => total))
  const usable = promotions.filter(({ code, isAutomatic }) => isAutomatic || named.includes(code))
    .toSorted((one, other) => one.priority - other.priority)
    .flatMap((promotion) => {
      const gain = gainOf(promotion, lines, currency)
      return gain === undefined ? [] : [{ gain, stackable: promotion.stackable }]
    })
  let best = upTo(subtotal, usable.filter(({ stackable }) => stackable).map(({ gain }) => gain))
  for (const { gain } of usable.filter(({ stackable }) => !stackable)) {
    const alone = upTo(subtotal, [gain])
    const frees = alone.freeShipping && !best.freeShipping
    if (alone.discountTotal > best.discountTotal || (alone.discountTotal === best.discountTotal && frees)) best = alone
  }
  return best
}

/** Where discounts lie: those of certain lines on these, as far as they cost something; the rest on what is left. */
export const discountsPerLine = (totals: ReadonlyArray<bigint>, { gains }: Offer): ReadonlyArray<bigint> => {
  let left = totals
  let ofOrder = 0n
  for (const { amount, ofLines } of gains) {
    const weights = left.map((cost, index) => ofLines?.includes(index) === true ? cost : 0n)
    const placed = least(amount, sumOf(weights))
    const shares = placed === 0n ? weights.map(() => 0n) : sharesOf(placed, weights)
    left = left.map((cost, index) => cost - (shares[index] ?? 0n))
    ofOrder += amount - placed
  }
  const rest = sharesOf(ofOrder, left)
  return totals.map((total, index) => total - (left[index] ?? 0n) + (rest[index] ?? 0n))
}
