import { Schema } from "effect"
import { Uuid } from "../../ids/Id.ts"
import { Category } from "./Category.ts"

/** One step of the path from the root to a category; titles live in `metadata`. */
export const PathStep = Schema.Struct({
  id: Uuid,
  slug: Schema.String,
  metadata: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "CategoryPathStep" })

/**
 * A category with its position: `path` leads from the root to it, both included; `depth` counts its ancestors;
 * `childCount` counts its active children.
 */
export const PlacedCategory = Schema.Struct({
  ...Category.fields,
  depth: Schema.Int,
  path: Schema.Array(PathStep),
  childCount: Schema.Int
}).annotate({ identifier: "PlacedCategory" })
export type PlacedCategory = typeof PlacedCategory.Type

/**
 * Body of a move: the new parent (null: a root; absent: unchanged), and the sibling before or after which the category
 * goes. Without a sibling it goes last.
 */
export const CategoryMove = Schema.Struct({
  parentId: Schema.optional(Schema.NullOr(Uuid)),
  before: Schema.optional(Uuid),
  after: Schema.optional(Uuid)
})
export type CategoryMove = typeof CategoryMove.Type

/** The part of the tree to read. */
export interface SubtreeQuery {
  /** Levels below the category; absent for all. */
  readonly depth?: number | undefined
  readonly includeArchived: boolean
}
