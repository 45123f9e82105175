import type { CatalogDefaults } from "../CatalogSettings.ts"

/** Limits the locales that a read looks up. */
const maxLocales = 16

/** A locale and its more general forms: `zh-Hant-TW`, `zh-Hant`, `zh`. */
const widened = (locale: string): ReadonlyArray<string> => {
  const parts = locale.split("-")
  return parts.map((_, n) => parts.slice(0, parts.length - n).join("-"))
}

/**
 * The locales to look up, best first: the requested one and its more general forms, the configured fallbacks of each and
 * their more general forms, then the default locale.
 */
export const localeChain = (
  locale: string,
  { defaultLocale, localeFallbacks }: Pick<CatalogDefaults, "defaultLocale" | "localeFallbacks">
): ReadonlyArray<string> => {
  const requested = widened(locale)
  const fallbacks = requested.flatMap((one) => Object.hasOwn(localeFallbacks, one) ? localeFallbacks[one] ?? [] : [])
  return [...new Set([...requested, ...fallbacks.flatMap(widened), ...widened(defaultLocale)])].slice(0, maxLocales)
}
