import type { PriceRule, Store } from "./StoreTables.ts"

/** Units that a store is offered of those that are there; null is not counted. */
export const offeredUnits = (
  { buffer, maxQuantity }: Pick<Store, "buffer" | "maxQuantity">,
  available: number | null
): number | null =>
  available === null ? maxQuantity : Math.max(0, Math.min(available - buffer, maxQuantity ?? Infinity))

/** A price by the rule of a store, in minor units and never below zero. */
export const ruledPrice = (rule: PriceRule | null, amount: number): number => {
  const { add = 0, percent = 0, roundTo = 1 } = rule ?? {}
  // Basis points keep cents out of the floating point.
  const changed = Math.round(amount * (10_000 + Math.round(percent * 100)) / 10_000) + add
  return Math.max(0, Math.round(changed / roundTo) * roundTo)
}

/** Whether the rule of a store admits a product. */
export const admitsProduct = (
  { catalog }: Pick<Store, "catalog">,
  product: { readonly status: string; readonly categories: ReadonlyArray<string> }
): boolean => {
  const { categories = [], statuses = [] } = catalog ?? {}
  return (statuses.length === 0 || statuses.some((one) => one === product.status)) &&
    (categories.length === 0 || categories.some((one) => product.categories.includes(one)))
}
