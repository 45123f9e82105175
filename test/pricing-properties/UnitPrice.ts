import { halfUp } from "./Shares.ts"
import { isStoredValue, type Shop, type ShopModifier, type ShopProduct, type Wish } from "./Shop.ts"

/** Whether a price or a modifier is for all buyers, or for a group of this buyer. */
const isFor = ({ groups }: Wish, group: number | null): boolean => group === null || groups.includes(group)

/**
 * The variant's price before the product's, that of a group before everybody's, the one from so many units on before the
 * usual one (contract §7.3).
 */
const baseOf = ({ prices }: ShopProduct, wish: Wish, quantity: number): bigint => {
  const { currency } = wish
  const fitting = prices.filter((price) =>
    price.currency === currency && quantity >= (price.minQuantity ?? 1) && isFor(wish, price.group)
  )
  const price = fitting.find(({ ofVariant }) => ofVariant) ?? fitting.find(({ group }) => group !== null) ??
    fitting.find(({ minQuantity }) => minQuantity !== null) ?? fitting[0]
  if (price === undefined) throw new Error(`no price in ${currency}`)
  return BigInt(price.amount)
}

const after = ({ type, value }: ShopModifier, running: bigint): bigint => {
  const percentage = halfUp(running * BigInt(value), 100n)
  const changed = {
    percentage_discount: running - percentage,
    percentage_markup: running + percentage,
    fixed_discount: running - BigInt(value),
    markup: running + BigInt(value),
    override: BigInt(value)
  }[type]
  return changed < 0n ? 0n : changed
}

/** What a unit costs: its price after the shop's modifiers, one on what the other has left (contract §7.3). */
export const unitPriceOf = (shop: Shop, wish: Wish, product: number, quantity: number): bigint => {
  const sold = shop.products[product]
  if (sold === undefined) throw new Error(`no product ${product}`)
  // Stored value costs the same for all groups, under every modifier (contract-commerce §2).
  if (isStoredValue(sold)) return baseOf(sold, { ...wish, groups: [] }, quantity)
  const base = baseOf(sold, wish, quantity)
  return shop.modifiers
    .filter((one) => one.product === null || one.product === product)
    .filter((one) => one.currency === null || one.currency === wish.currency)
    .filter((one) => isFor(wish, one.group))
    .filter((one) => quantity >= (one.minQuantity ?? 1))
    .filter((one) => base * BigInt(quantity) >= BigInt(one.minSubtotal ?? 0))
    .toSorted((one, other) => one.priority - other.priority)
    .reduce((running, one) => after(one, running), base)
}
