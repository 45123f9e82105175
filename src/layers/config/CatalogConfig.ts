import { Schema } from "effect"
import { defaultCatalog } from "../../domain/catalog/CatalogSettings.ts"
import * as is from "./Rules.ts"
import { group, setting } from "./Settings.ts"

const localeForm = "names of locales, 1 to 64 characters each"
const locale = is.textThat((name) => name.length > 0 && name.length <= 64, localeForm)
const locales = Schema.Record(locale, Schema.Array(locale)).annotate({ description: localeForm })

const types = Schema.Record(
  is.textThat((name) => name.length > 0 && name.length <= 100, "a type of entities"),
  Schema.Struct({
    manageInventory: Schema.optionalKey(is.flag),
    storedValue: Schema.optionalKey(is.flag),
    singlePurpose: Schema.optionalKey(is.flag),
    ships: Schema.optionalKey(is.flag),
    payableWithStoredValue: Schema.optionalKey(is.flag),
    maxUnitsPerLine: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9_999 })))
  })
).annotate({ description: "policies by entity type, for example { ebook: { manageInventory: false } }" })

/** Locales of the catalog, and how its goods are sold (docs/catalog.md). */
export const catalogSettings = group({
  /** The last fallback of every locale. Default `en`. */
  defaultLocale: setting(locale, defaultCatalog.defaultLocale),
  /** Fallbacks of a locale, best first: `{ "de-CH": ["fr"] }`. Default: none. */
  localeFallbacks: setting(locales, defaultCatalog.localeFallbacks),
  /** Whether texts wait as a draft for a user with `catalog:approve`. Default false. */
  approveLocales: setting(is.flag, defaultCatalog.approveLocales),
  /** Whether a SKU that another variant has is refused. Default false: it is taken with a warning. */
  uniqueSkus: setting(is.flag, defaultCatalog.uniqueSkus),
  /** How goods of an entity type are sold, by type: `{ ebook: { manageInventory: false } }`. Default: docs/catalog.md. */
  types: setting(types, defaultCatalog.types)
})
