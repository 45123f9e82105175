import { Schema } from "effect"
import { keyText } from "../text/Storable.ts"

/** The address of a record within its organization, chosen by the client; unique per kind of record. */
export const Slug = keyText(255)

/** A locale as the client writes it, for example `en` or `de-CH` (spec §2: a path segment). */
export const Locale = keyText(64)

/** Position among siblings, smallest first. */
export const SortOrder = Schema.Int.check(Schema.isInt32())
