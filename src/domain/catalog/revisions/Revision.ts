import { Schema, Struct } from "effect"
import { notFound } from "../../platform/errors/ErrorKinds.ts"
import { OrganizationId } from "../../platform/ids/Id.ts"
import { Time } from "../../platform/text/Time.ts"
import { Attributes, CatalogEntity } from "../Entity.ts"

export class RevisionNotFound
  extends notFound("Revision", (number: number) => `The entity has no revision ${number}.`)
{}

export const Snapshot = Schema.Struct({
  ...Struct.pick(CatalogEntity.fields, ["slug", "status", "isVisible", "taxClass", "metadata"]),
  /** Absent, in older ones: `taxClass` names the class. */
  taxClassId: Schema.optionalKey(CatalogEntity.fields.taxClassId),
  customFields: Schema.Record(Schema.String, Schema.Unknown),
  attributes: Schema.Record(
    Schema.String,
    Schema.Struct(Struct.omit(Attributes.fields, ["id", "entityId", "locale", "status"]))
  )
}).annotate({ identifier: "EntitySnapshot" })
export type Snapshot = typeof Snapshot.Type

const origin = {
  number: Schema.Int,
  entityId: Schema.String,
  organizationId: OrganizationId,
  changedBy: Schema.NullOr(Schema.String),
  changedByType: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String),
  source: Schema.String,
  restoredFrom: Schema.NullOr(Schema.Int),
  createdAt: Time
}

/** A difference at a dotted path; a side without a value has no key. */
export const Difference = Schema.Struct({
  path: Schema.String,
  before: Schema.optionalKey(Schema.Unknown),
  after: Schema.optionalKey(Schema.Unknown)
}).annotate({ identifier: "RevisionDifference" })
export type Difference = typeof Difference.Type

export const RevisionEntry = Schema.Struct({ ...origin, changedFields: Schema.Array(Schema.String) })
  .annotate({ identifier: "EntityRevisionEntry" })
export type RevisionEntry = typeof RevisionEntry.Type

export const Revision = Schema.Struct({ ...origin, snapshot: Snapshot }).annotate({ identifier: "EntityRevision" })
export type Revision = typeof Revision.Type

export const Comparison = Schema.Struct({
  from: Schema.Int,
  to: Schema.Int,
  differences: Schema.Array(Difference)
}).annotate({ identifier: "RevisionComparison" })
export type Comparison = typeof Comparison.Type
