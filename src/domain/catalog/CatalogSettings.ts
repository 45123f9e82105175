import { Context, Layer } from "effect"

/** Localization settings of a deployment. */
export interface CatalogDefaults {
  /** The last fallback of every locale. */
  readonly defaultLocale: string
  /** Fallbacks by locale, best first; they precede the default. */
  readonly localeFallbacks: Readonly<Record<string, ReadonlyArray<string>>>
  /** Whether attributes written without the permission `catalog:approve` become a draft that waits for approval. */
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
