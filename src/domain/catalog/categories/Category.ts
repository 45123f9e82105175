import { Schema } from "effect"
import { Uuid } from "../../ids/Id.ts"
import { StorableObject } from "../../text/Storable.ts"
import { Slug, SortOrder } from "../FieldText.ts"

/** A node of the category tree; lists leave out archived ones (contract §1.1). Titles live in `metadata`. */
export const Category = Schema.Struct({
  id: Uuid,
  parentId: Schema.NullOr(Uuid),
  slug: Schema.String,
  sortOrder: Schema.Int,
  status: Schema.Literals(["active", "archived"]),
  metadata: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "Category" })
export type Category = typeof Category.Type

/** Body of a new category. `sortOrder` defaults to 0; without `parentId` it is a root. */
export const NewCategory = Schema.Struct({
  slug: Slug,
  parentId: Schema.optional(Schema.NullOr(Uuid)),
  sortOrder: Schema.optional(SortOrder),
  metadata: Schema.optional(StorableObject)
})
export type NewCategory = typeof NewCategory.Type

/** Body of a change: absent keys keep their value, a null `parentId` makes it a root. */
export const CategoryChange = Schema.Struct({ ...NewCategory.fields, slug: Schema.optional(Slug) })
export type CategoryChange = typeof CategoryChange.Type
