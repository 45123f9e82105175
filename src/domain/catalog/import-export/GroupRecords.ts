import { Schema } from "effect"
import { keyText, StorableObject } from "../../text/Storable.ts"
import { Slug, SortOrder } from "../FieldText.ts"

/**
 * A category in a file, identified by slug, below the one that `parent` names (null: a root). Absent keys keep the
 * stored value.
 */
export const CategoryRecord = Schema.Struct({
  slug: Slug,
  parent: Schema.optional(Schema.NullOr(Slug)),
  sortOrder: Schema.optional(SortOrder),
  status: Schema.optional(Schema.Literals(["active", "archived"])),
  metadata: Schema.optional(StorableObject)
}).annotate({ identifier: "CategoryRecord" })
export type CategoryRecord = typeof CategoryRecord.Type

/** A brand in a file, identified by slug; the default of its name is the slug. */
export const BrandRecord = Schema.Struct({
  slug: Slug,
  displayName: Schema.optional(keyText(500)),
  metadata: Schema.optional(StorableObject)
}).annotate({ identifier: "BrandRecord" })
export type BrandRecord = typeof BrandRecord.Type
