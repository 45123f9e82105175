import { Schema } from "effect"
import { keyText } from "../text/Storable.ts"

/** A client-chosen identifier, unique per kind of record within an organization. */
export const Slug = keyText(255)

/** A locale, for example `en` or `de-CH` (spec §2: a path segment). */
export const Locale = keyText(64)

/** Position among siblings, smallest first. */
export const SortOrder = Schema.Int.check(Schema.isInt32())
