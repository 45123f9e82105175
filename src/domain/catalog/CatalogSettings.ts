import { Context, Layer } from "effect"

/** What a deployment decides about words in several languages and how long revisions stay. */
export interface CatalogDefaults {
  /** The locale that stands in for all others in the end. */
  readonly defaultLocale: string
  /** For a locale, those that stand in for it, best first; they come before the default. */
  readonly localeFallbacks: Readonly<Record<string, ReadonlyArray<string>>>
  /** Whether words that somebody without `catalog:approve` writes wait as a draft for somebody who has it. */
  readonly approveLocales: boolean
}

export const defaultCatalog: CatalogDefaults = { defaultLocale: "en", localeFallbacks: {}, approveLocales: false }

/** The settings of this process. */
export class CatalogSettings extends Context.Service<CatalogSettings, CatalogDefaults>()(
  "stoa/domain/catalog/CatalogSettings"
) {
  static readonly layerOf = (settings: Partial<CatalogDefaults>) =>
    Layer.succeed(CatalogSettings, { ...defaultCatalog, ...settings })
}
