import { Effect } from "effect"
import type { RateAdapter } from "../../domain/shipping/RateAdapter.ts"
import type { FlatShipping, WeightShipping } from "../../domain/shipping/ShippingRules.ts"
import { defaultShipping, type ShippingSettingsValues } from "../../domain/shipping/ShippingSettings.ts"
import { refuse } from "./Variables.ts"

/** What `commerce.config.ts` says of shipping (docs/tax-and-shipping.md). Default: a flat rate of 0. */
export type ShippingOptions = (FlatShipping | WeightShipping | { readonly type?: undefined }) & {
  /**
   * What happens to an order whose address no zone or outside service serves: it is refused, or costs what is configured
   * here. Default `refuse`.
   */
  readonly unserved?: "refuse" | "configured"
  /** An outside service that prices shipping; its rates take the place of the zones. Default: none. */
  readonly adapter?: RateAdapter
  /** How long a checkout waits for it, in milliseconds from 1 to 20000. Default 3000. */
  readonly adapterTimeoutMs?: number
  /** What happens when it does not answer: zones and configuration decide, or the order is refused. Default `zones`. */
  readonly adapterFallback?: "zones" | "refuse"
}

const isAmount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

/** The amounts of a configured price, by their names. */
const amountsOf = (options: ShippingOptions): ReadonlyArray<readonly [name: string, value: number]> => {
  if (options.type === undefined) return []
  const own = options.type === "flat"
    ? [["flatRate", options.flatRate] as const]
    : [
      ["fallbackCost", options.fallbackCost] as const,
      ...options.brackets.flatMap(({ cost, upToGrams }, n) => [
        [`brackets.${n}.cost`, cost] as const,
        [`brackets.${n}.upToGrams`, upToGrams] as const
      ])
    ]
  const threshold = options.freeShippingThreshold
  return threshold === undefined ? own : [...own, ["freeShippingThreshold", threshold] as const]
}

/** An amount that is none would fail every checkout. */
export const checkShipping = Effect.fnUntraced(function*(options: ShippingOptions) {
  for (const [name, value] of amountsOf(options)) {
    if (!isAmount(value)) {
      return yield* refuse(`shipping.${name}`, String(value), "a whole number from 0, in minor units or grams")
    }
  }
  const timeout = options.adapterTimeoutMs ?? defaultShipping.adapterTimeoutMs
  if (!Number.isInteger(timeout) || timeout < 1 || timeout > 20_000) {
    return yield* refuse("shipping.adapterTimeoutMs", String(timeout), "a whole number of milliseconds up to 20000")
  }
})

/** What `commerce.config.ts` says of shipping, over what holds everywhere. */
export const shippingSettings = (options: ShippingOptions): ShippingSettingsValues => ({
  configured: options.type === undefined ? defaultShipping.configured : options,
  unserved: options.unserved ?? defaultShipping.unserved,
  adapter: options.adapter,
  adapterTimeoutMs: options.adapterTimeoutMs ?? defaultShipping.adapterTimeoutMs,
  adapterFallback: options.adapterFallback ?? defaultShipping.adapterFallback
})
