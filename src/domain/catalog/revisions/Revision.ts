import { Schema, Struct } from "effect"
import { notFound } from "../../platform/errors/ErrorKinds.ts"
import { about } from "../../platform/hints/Hints.ts"
import { OrganizationId } from "../../platform/ids/Id.ts"
import { Time } from "../../platform/text/Time.ts"
import { Attributes, CatalogEntity } from "../Entity.ts"

export class RevisionNotFound
  extends notFound("Revision", (number: number) => `The entity has no revision ${number}.`)
{}

export const Snapshot = Schema.Struct({
  ...Struct.pick(CatalogEntity.fields, ["slug", "status", "isVisible", "taxClass", "metadata"]),
  taxClassId: Schema.optionalKey(CatalogEntity.fields.taxClassId).pipe(
    about("Id of the tax class. Older revisions have only `taxClass`.")
  ),
  customFields: Schema.Record(Schema.String, Schema.Unknown).pipe(about("Values by the names of field definitions.")),
  attributes: Schema.Record(
    Schema.String,
    Schema.Struct(Struct.omit(Attributes.fields, ["id", "entityId", "locale", "status"]))
  ).pipe(about("Texts by locale."))
}).annotate({ identifier: "EntitySnapshot", description: "The entity as the revision left it." })
export type Snapshot = typeof Snapshot.Type

const origin = {
  number: Schema.Int.pipe(about("Counts the revisions of the entity, from 1.")),
  entityId: Schema.String,
  organizationId: OrganizationId,
  changedBy: Schema.NullOr(Schema.String).pipe(
    about("Id of the user or API key that made the change; null: the system.")
  ),
  changedByType: Schema.NullOr(Schema.String).pipe(about("Tells what `changedBy` is: `user` or `api_key`.")),
  requestId: Schema.NullOr(Schema.String),
  source: Schema.String.pipe(
    about("Channel of the change: `rest` for the API, `job` for a job, `local` for code of the service.")
  ),
  restoredFrom: Schema.NullOr(Schema.Int).pipe(
    about("Number of the revision that was restored; null: an ordinary change.")
  ),
  createdAt: Time
}

/** A difference at a dotted path; a side without a value has no key. */
export const Difference = Schema.Struct({
  path: Schema.String,
  before: Schema.optionalKey(Schema.Unknown).pipe(about("Value in the older revision; absent: it had none.")),
  after: Schema.optionalKey(Schema.Unknown).pipe(about("Value in the newer revision; absent: it has none."))
}).annotate({ identifier: "RevisionDifference" })
export type Difference = typeof Difference.Type

export const RevisionEntry = Schema.Struct({
  ...origin,
  changedFields: Schema.Array(Schema.String).pipe(about("Paths of the fields that differ from the revision before."))
})
  .annotate({ identifier: "EntityRevisionEntry" })
export type RevisionEntry = typeof RevisionEntry.Type

export const Revision = Schema.Struct({ ...origin, snapshot: Snapshot }).annotate({ identifier: "EntityRevision" })
export type Revision = typeof Revision.Type

export const Comparison = Schema.Struct({
  from: Schema.Int.pipe(about("Number of the revision that is compared.")),
  to: Schema.Int.pipe(about("Number of the revision that it is compared with.")),
  differences: Schema.Array(Difference).pipe(about("Differing fields, by path."))
}).annotate({ identifier: "RevisionComparison" })
export type Comparison = typeof Comparison.Type
