import { Schema } from "effect"
import { invalid, notFound } from "../../platform/errors/ErrorKinds.ts"
import { about } from "../../platform/hints/Hints.ts"
import { CategoryId } from "../../platform/ids/Id.ts"
import { Metadata, StorableObject } from "../../platform/text/Storable.ts"
import { Slug, SortOrder } from "../Entity.ts"

export class CategoryNotFound extends notFound("Category", "Category not found.") {}
export class UnknownParent extends invalid("Parent", "parentId", "parentId names no category.", "not_found") {}
export class CategoryCycle
  extends invalid("Cycle", "parentId", "parentId must not be the category or one below it.", "cycle")
{}
export class TwoSiblings extends invalid("SiblingNeeded", "after", "Name one sibling: before or after.") {}
export class UnknownSibling
  extends invalid("Sibling", (path: string) => path, "No such category below this parent.", "not_found")
{}

/** A node of the category tree (contract §1.1). Titles live in `metadata`. */
export const Category = Schema.Struct({
  id: CategoryId,
  parentId: Schema.NullOr(CategoryId),
  slug: Schema.String,
  sortOrder: Schema.Int.pipe(about("Lower goes first.")),
  status: Schema.Literals(["active", "archived"]).pipe(about("Shoppers do not see archived categories.")),
  metadata: Metadata
}).annotate({ identifier: "Category" })
export type Category = typeof Category.Type

export const NewCategory = Schema.Struct({
  slug: Slug,
  parentId: Schema.optional(Schema.NullOr(CategoryId)),
  sortOrder: Schema.optional(SortOrder).pipe(about("Lower goes first.")),
  metadata: Schema.optional(StorableObject)
})
export type NewCategory = typeof NewCategory.Type

/** Absent keys keep their value, a null `parentId` makes it a root. */
export const CategoryChange = Schema.Struct({ ...NewCategory.fields, slug: Schema.optional(Slug) })
export type CategoryChange = typeof CategoryChange.Type

const PathStep = Schema.Struct({
  id: CategoryId,
  slug: Schema.String,
  metadata: Metadata
}).annotate({ identifier: "CategoryPathStep" })

export const PlacedCategory = Schema.Struct({
  ...Category.fields,
  depth: Schema.Int.pipe(about("Levels below the category that was asked for.")),
  path: Schema.Array(PathStep),
  childCount: Schema.Int.pipe(about("Categories directly below it."))
}).annotate({ identifier: "PlacedCategory" })
export type PlacedCategory = typeof PlacedCategory.Type

/**
 * The new parent (null: a root; absent: unchanged) and the sibling before or after which the category goes; else it
 * goes last.
 */
export const CategoryMove = Schema.Struct({
  parentId: Schema.optional(Schema.NullOr(CategoryId)),
  before: Schema.optional(CategoryId),
  after: Schema.optional(CategoryId)
})
export type CategoryMove = typeof CategoryMove.Type

export interface SubtreeQuery {
  readonly depth?: number | undefined
  readonly includeArchived: boolean
}
