import { Schema } from "effect"
import { Time } from "../../pricing/Bounds.ts"
import { EntityStatus } from "../Entity.ts"

const Json = Schema.Record(Schema.String, Schema.Unknown)

/** An entity as it was: its own fields, its custom fields by name, and its approved words by locale. */
export const Snapshot = Schema.Struct({
  slug: Schema.String,
  status: EntityStatus,
  isVisible: Schema.Boolean,
  taxClass: Schema.NullOr(Schema.String),
  metadata: Json,
  customFields: Json,
  attributes: Schema.Record(
    Schema.String,
    Schema.Struct({
      title: Schema.String,
      subtitle: Schema.NullOr(Schema.String),
      description: Schema.NullOr(Schema.String),
      richDescription: Schema.Unknown,
      seoTitle: Schema.NullOr(Schema.String),
      seoDescription: Schema.NullOr(Schema.String)
    })
  )
}).annotate({ identifier: "EntitySnapshot" })
export type Snapshot = typeof Snapshot.Type

const who = {
  number: Schema.Int,
  entityId: Schema.String,
  organizationId: Schema.String,
  /** User or key; null for what was there before revisions were kept, and for visitors. */
  changedBy: Schema.NullOr(Schema.String),
  changedByType: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String),
  source: Schema.String,
  restoredFrom: Schema.NullOr(Schema.Int),
  createdAt: Time
}

/** A difference between two snapshots: a dotted path, and what stood there; a side that had nothing there has no key. */
export const Difference = Schema.Struct({
  path: Schema.String,
  before: Schema.optionalKey(Schema.Unknown),
  after: Schema.optionalKey(Schema.Unknown)
}).annotate({ identifier: "RevisionDifference" })
export type Difference = typeof Difference.Type

/** A revision in a list: who made it, when, and which fields it changed. */
export const RevisionEntry = Schema.Struct({ ...who, changedFields: Schema.Array(Schema.String) })
  .annotate({ identifier: "EntityRevisionEntry" })
export type RevisionEntry = typeof RevisionEntry.Type

/** A revision with the entity as it was after it. */
export const Revision = Schema.Struct({ ...who, snapshot: Snapshot }).annotate({ identifier: "EntityRevision" })
export type Revision = typeof Revision.Type

/** What is different in `to`, compared with `from`. */
export const Comparison = Schema.Struct({
  from: Schema.Int,
  to: Schema.Int,
  differences: Schema.Array(Difference)
}).annotate({ identifier: "RevisionComparison" })
export type Comparison = typeof Comparison.Type
