import { Schema } from "effect"
import { defaultShipping, type RateAdapter, type ShippingSettingsValues } from "../../domain/shipping/RateAdapter.ts"
import type { Destination } from "../../domain/shipping/ShippingZone.ts"
import { defaultTaxOptions, type TaxAdapter, type TaxOptions } from "../../domain/tax/TaxAdapter.ts"
import * as Setting from "./Settings.ts"

const amountForm = "a whole number from 0, in minor units or grams"
const amount = Setting.whole(0, Number.MAX_SAFE_INTEGER).annotate({ description: amountForm })
const brackets = Schema.Array(Schema.Struct({ upToGrams: amount, cost: amount })).annotate({ description: amountForm })

export const shippingSettings = Setting.group({
  /** `flat` needs `flatRate`, `weight_based` needs `brackets` and `fallbackCost`. Default: a flat rate of 0. */
  type: Setting.optional(Setting.oneOf("flat", "weight_based")),
  /** Price of an order, in minor units of its currency. */
  flatRate: Setting.optional(amount),
  /** Prices by total weight: the first bracket that holds it. */
  brackets: Setting.optional(brackets),
  /** Price of an order that is heavier than each bracket. */
  fallbackCost: Setting.optional(amount),
  /** Subtotal, after discounts, from which shipping is free. */
  freeShippingThreshold: Setting.optional(amount),
  /** An order that no zone or adapter serves is refused, or costs what is configured here. Default `refuse`. */
  unserved: Setting.withDefault(Setting.oneOf("refuse", "configured"), defaultShipping.unserved),
  /** External service that prices shipping in place of the zones. Default: none. */
  adapter: Setting.optional(Setting.code<RateAdapter>()),
  /** How long a checkout waits for it, in milliseconds from 1 to 20000. Default 3000. */
  adapterTimeoutMs: Setting.withDefault(Setting.milliseconds(1, 20_000), defaultShipping.adapterTimeoutMs),
  /** If it does not answer, the zones decide, or the order is refused. Default `zones`. */
  adapterFallback: Setting.withDefault(Setting.oneOf("zones", "refuse"), defaultShipping.adapterFallback)
})

type Shipping = typeof shippingSettings.Type

const configuredShipping = (
  shipping: Shipping,
  { missing }: Setting.Problems
): ShippingSettingsValues["configured"] => {
  const { brackets, fallbackCost, flatRate, freeShippingThreshold, type } = shipping
  if (type === "flat" && flatRate !== undefined) return { type, flatRate, freeShippingThreshold }
  if (type === "weight_based" && brackets !== undefined && fallbackCost !== undefined) {
    return { type, brackets, fallbackCost, freeShippingThreshold }
  }
  if (type !== undefined) {
    missing(type === "flat" ? "shipping.flatRate" : "shipping.brackets or shipping.fallbackCost", amountForm)
  }
  return defaultShipping.configured
}

export const shippingOf = (shipping: Shipping, problems: Setting.Problems): ShippingSettingsValues => ({
  ...shipping,
  adapter: shipping.adapter,
  configured: configuredShipping(shipping, problems)
})

const isAdapterId = (id: string) => id !== "" && id.length <= 100 && !id.includes("\0")

export const taxSettings = Setting.group({
  /** Whether prices contain their tax; else tax is added to them. Default false. */
  pricesIncludeTax: Setting.withDefault(Setting.flag, false),
  /** The same for single organizations, by id; it wins over the above. */
  organizations: Setting.withDefault(
    Setting.code<Readonly<Record<string, { readonly pricesIncludeTax?: boolean }>>>(),
    {}
  ),
  /** With tax classes: whether shipping is taxed like the default class. Default false: it is not taxed. */
  shippingByDefaultClass: Setting.withDefault(Setting.flag, defaultTaxOptions.shippingByDefaultClass),
  /** External tax service, called if an organization's own rules do not cover an order. */
  adapter: Setting.optional(Setting.code<TaxAdapter>()),
  /** Milliseconds it has for an answer. Default 3000. */
  timeoutMs: Setting.withDefault(Setting.milliseconds(1, 60_000), defaultTaxOptions.timeoutMs),
  /** Flat rate if the adapter does not answer. */
  fallbackRateBps: Setting.optional(Setting.whole(0, 10_000, " of basis points")),
  /** Without an answer. Default: `fallback` if `fallbackRateBps` is set, else the checkout is refused. */
  onFailure: Setting.optional(Setting.oneOf("fallback", "refuse")),
  /** Origin of goods, for the adapter. */
  defaultFromAddress: Setting.optional(Setting.code<Destination>())
})

export const taxesOf = (tax: typeof taxSettings.Type, problems: Setting.Problems): TaxOptions => {
  const organizations = new Map(Object.entries(tax.organizations))
  if (tax.onFailure === "fallback" && tax.fallbackRateBps === undefined) {
    problems.missing("tax.fallbackRateBps", "a rate, since tax.onFailure is fallback")
  }
  if (tax.adapter !== undefined && !isAdapterId(tax.adapter.id)) {
    problems.refuse("tax.adapter.id", tax.adapter.id, "1 to 100 characters")
  }
  return {
    ...tax,
    adapter: tax.adapter,
    pricesIncludeTax: (organizationId) => organizations.get(organizationId)?.pricesIncludeTax ?? tax.pricesIncludeTax,
    fallbackRateBps: tax.onFailure === "refuse" ? undefined : tax.fallbackRateBps,
    from: tax.defaultFromAddress ?? null
  }
}
