import { Schema } from "effect"
import { Time } from "../../pricing/Bounds.ts"
import { EntityStatus } from "../Entity.ts"

const Json = Schema.Record(Schema.String, Schema.Unknown)

/** An entity at a revision: its fields, custom fields by name, and approved attributes by locale. */
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

const origin = {
  number: Schema.Int,
  entityId: Schema.String,
  organizationId: Schema.String,
  /** User or API key; null for visitors and for entities older than revisions. */
  changedBy: Schema.NullOr(Schema.String),
  changedByType: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String),
  source: Schema.String,
  restoredFrom: Schema.NullOr(Schema.Int),
  createdAt: Time
}

/** A difference between two snapshots at a dotted path; a side without a value has no key. */
export const Difference = Schema.Struct({
  path: Schema.String,
  before: Schema.optionalKey(Schema.Unknown),
  after: Schema.optionalKey(Schema.Unknown)
}).annotate({ identifier: "RevisionDifference" })
export type Difference = typeof Difference.Type

/** A revision in a list: who made it, when, and which fields it changed. */
export const RevisionEntry = Schema.Struct({ ...origin, changedFields: Schema.Array(Schema.String) })
  .annotate({ identifier: "EntityRevisionEntry" })
export type RevisionEntry = typeof RevisionEntry.Type

/** A revision with the entity as it was after it. */
export const Revision = Schema.Struct({ ...origin, snapshot: Snapshot }).annotate({ identifier: "EntityRevision" })
export type Revision = typeof Revision.Type

/** Differences of `to` from `from`. */
export const Comparison = Schema.Struct({
  from: Schema.Int,
  to: Schema.Int,
  differences: Schema.Array(Difference)
}).annotate({ identifier: "RevisionComparison" })
export type Comparison = typeof Comparison.Type
