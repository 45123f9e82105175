import { Effect } from "effect"
import type { Destination } from "../../domain/shipping/Destination.ts"
import type { TaxAdapter } from "../../domain/tax/TaxAdapter.ts"
import { defaultTaxOptions, type TaxOptions } from "../../domain/tax/TaxSettings.ts"
import { refuse } from "./Variables.ts"

/** What a deployment says about tax (docs/tax-and-shipping.md). Rates are in basis points: 1900 is 19 %. */
export interface TaxConfig {
  /** Prices contain their tax. Default false: tax is added to them. */
  readonly pricesIncludeTax?: boolean
  /** The same for single organizations, by their ids; it wins over the above. */
  readonly organizations?: Readonly<Record<string, { readonly pricesIncludeTax?: boolean }>>
  /** With tax classes: shipping is taxed like the default class. Default false: it is not taxed. */
  readonly shippingByDefaultClass?: boolean
  /** Service outside that knows taxes; asked where an organization's own rules have nothing to say. */
  readonly adapter?: TaxAdapter
  /** Milliseconds it has for an answer. Default 3000. */
  readonly timeoutMs?: number
  /** Flat rate that stands for an answer of the adapter which did not come. */
  readonly fallbackRateBps?: number
  /** What happens without an answer. Default: `fallback` where `fallbackRateBps` is set, else the checkout is refused. */
  readonly onFailure?: "fallback" | "refuse"
  /** Where the goods come from, for the adapter. */
  readonly defaultFromAddress?: Destination
}

const maxIdLength = 100

/** What `commerce.config.ts` says of tax must be usable before the first checkout finds out that it is not. */
export const checkTax = Effect.fnUntraced(function*(tax: TaxConfig = {}) {
  const { adapter, fallbackRateBps, onFailure, timeoutMs = defaultTaxOptions.timeoutMs } = tax
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > 60_000) {
    return yield* refuse("tax.timeoutMs", String(timeoutMs), "a whole number of milliseconds from 1 to 60000")
  }
  if (
    fallbackRateBps !== undefined &&
    (!Number.isInteger(fallbackRateBps) || fallbackRateBps < 0 || fallbackRateBps > 10_000)
  ) {
    return yield* refuse("tax.fallbackRateBps", String(fallbackRateBps), "a whole number of basis points up to 10000")
  }
  if (onFailure !== undefined && onFailure !== "fallback" && onFailure !== "refuse") {
    return yield* refuse("tax.onFailure", String(onFailure), "fallback or refuse")
  }
  if (onFailure === "fallback" && fallbackRateBps === undefined) {
    return yield* refuse("tax.fallbackRateBps", "", "a rate, since tax.onFailure is fallback")
  }
  if (adapter !== undefined && (adapter.id === "" || adapter.id.length > maxIdLength || adapter.id.includes("\0"))) {
    return yield* refuse("tax.adapter.id", adapter.id, `1 to ${maxIdLength} characters`)
  }
})

/** What `commerce.config.ts` says of tax, over what holds everywhere. */
export const taxOptionsOf = (tax: TaxConfig = {}): TaxOptions => {
  const organizations = new Map(Object.entries(tax.organizations ?? {}))
  const usual = tax.pricesIncludeTax ?? false
  return {
    pricesIncludeTax: (organizationId) => organizations.get(organizationId)?.pricesIncludeTax ?? usual,
    shippingByDefaultClass: tax.shippingByDefaultClass ?? defaultTaxOptions.shippingByDefaultClass,
    adapter: tax.adapter,
    timeoutMs: tax.timeoutMs ?? defaultTaxOptions.timeoutMs,
    fallbackRateBps: tax.onFailure === "refuse" ? undefined : tax.fallbackRateBps,
    from: tax.defaultFromAddress ?? null
  }
}
