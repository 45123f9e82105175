import type { CatalogDefaults } from "../CatalogSettings.ts"

/** More than any chain has; a read looks at each of them. */
const longest = 16

/** A locale and the more general ones that it is made of: `zh-Hant-TW`, `zh-Hant`, `zh`. */
const widened = (locale: string): ReadonlyArray<string> => {
  const parts = locale.split("-")
  return parts.map((_, n) => parts.slice(0, parts.length - n).join("-"))
}

/**
 * The locales in which words are looked for, best first: the one that was asked for and what it is made of, then what the
 * store says stands in for each of those (and what they are made of), then the default.
 */
export const localeChain = (
  locale: string,
  { defaultLocale, localeFallbacks }: Pick<CatalogDefaults, "defaultLocale" | "localeFallbacks">
): ReadonlyArray<string> => {
  const own = widened(locale)
  const instead = own.flatMap((one) => Object.hasOwn(localeFallbacks, one) ? localeFallbacks[one] ?? [] : [])
  return [...new Set([...own, ...instead.flatMap(widened), ...widened(defaultLocale)])].slice(0, longest)
}
