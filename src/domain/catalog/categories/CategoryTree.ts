import { Schema } from "effect"
import { Uuid } from "../../ids/Id.ts"
import { Category } from "./Category.ts"

/** One step of the way from the root to a category; titles live in `metadata`. */
export const PathStep = Schema.Struct({
  id: Uuid,
  slug: Schema.String,
  metadata: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "CategoryPathStep" })

/**
 * A category and where it lies: `path` is the way from the root to it, both included, and `depth` how many categories lie
 * above it. `childCount` counts the categories directly below it that lists show.
 */
export const PlacedCategory = Schema.Struct({
  ...Category.fields,
  depth: Schema.Int,
  path: Schema.Array(PathStep),
  childCount: Schema.Int
}).annotate({ identifier: "PlacedCategory" })
export type PlacedCategory = typeof PlacedCategory.Type

/**
 * Body of a move: the new parent (null: a root; absent: the same as before), and the sibling before or after which the
 * category comes to stand. Without one it becomes the last of its siblings.
 */
export const CategoryMove = Schema.Struct({
  parentId: Schema.optional(Schema.NullOr(Uuid)),
  before: Schema.optional(Uuid),
  after: Schema.optional(Uuid)
})
export type CategoryMove = typeof CategoryMove.Type

/** Which part of the tree is asked for. */
export interface SubtreeQuery {
  /** Levels below the category; absent: all. */
  readonly depth?: number | undefined
  readonly includeArchived: boolean
}
