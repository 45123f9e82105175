import { Context, Layer } from "effect"
import type { TypePolicies } from "./TypePolicy.ts"

/** Settings of the catalog. */
export interface CatalogDefaults {
  readonly defaultLocale: string
  /** Fallbacks by locale, best first; they precede the default. */
  readonly localeFallbacks: Readonly<Record<string, ReadonlyArray<string>>>
  /** Attributes written without `catalog:approve` become a draft. */
  readonly approveLocales: boolean
  /** Refuses a SKU that another variant has. */
  readonly uniqueSkus: boolean
  /** How goods of a type are sold. */
  readonly types: TypePolicies
}

export const defaultCatalog: CatalogDefaults = {
  defaultLocale: "en",
  localeFallbacks: {},
  approveLocales: false,
  uniqueSkus: false,
  types: {}
}

export class CatalogSettings extends Context.Service<CatalogSettings, CatalogDefaults>()(
  "stoa/domain/catalog/CatalogSettings"
) {
  static readonly layerOf = (settings: Partial<CatalogDefaults>) =>
    Layer.succeed(CatalogSettings, { ...defaultCatalog, ...settings })
}

const maxLocales = 16

const widened = (locale: string): ReadonlyArray<string> => {
  const parts = locale.split("-")
  return parts.map((_, n) => parts.slice(0, parts.length - n).join("-"))
}

/**
 * The locales to look up, best first: the requested one, the configured fallbacks, each with its more general forms,
 * then the default.
 */
export const localeChain = (
  locale: string,
  { defaultLocale, localeFallbacks }: Pick<CatalogDefaults, "defaultLocale" | "localeFallbacks">
): ReadonlyArray<string> => {
  const requested = widened(locale)
  const fallbacks = requested.flatMap((one) => Object.hasOwn(localeFallbacks, one) ? localeFallbacks[one] ?? [] : [])
  return [...new Set([...requested, ...fallbacks.flatMap(widened), ...widened(defaultLocale)])].slice(0, maxLocales)
}
