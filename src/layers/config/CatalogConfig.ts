import { Effect } from "effect"
import type { CatalogDefaults } from "../../domain/catalog/CatalogSettings.ts"
import { refuse } from "./Variables.ts"

/** What a deployment says of the catalog (docs/catalog.md). */
export interface CatalogOptions {
  /** The locale that stands in for all others in the end. Default `en`. */
  readonly defaultLocale?: string
  /** For a locale, those that stand in for it, best first: `{ "de-CH": ["fr"] }`. Default: none. */
  readonly localeFallbacks?: Readonly<Record<string, ReadonlyArray<string>>>
  /** Whether words wait as a draft for somebody with `catalog:approve`. Default false. */
  readonly approveLocales?: boolean
}

const isLocale = (text: string) => text.length > 0 && text.length <= 64

/** What `commerce.config.ts` says of the catalog must be usable before the first read finds out that it is not. */
export const checkCatalog = ({ defaultLocale = "en", localeFallbacks = {} }: CatalogOptions = {}) => {
  const locales = [defaultLocale, ...Object.entries(localeFallbacks).flatMap(([locale, others]) => [locale, ...others])]
  const wrong = locales.find((locale) => !isLocale(locale))
  return wrong === undefined
    ? Effect.void
    : refuse("catalog.localeFallbacks", wrong, "names of locales, 1 to 64 characters each")
}

/** The settings, as far as they are said. */
export const catalogSettings = (options: CatalogOptions = {}): Partial<CatalogDefaults> => options
