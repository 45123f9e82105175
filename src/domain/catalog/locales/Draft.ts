import { Schema } from "effect"
import { Uuid } from "../../ids/Id.ts"
import { Time } from "../../pricing/Bounds.ts"

/** Words of a locale that wait for approval: the fields they change, and who proposed them. */
export const AttributesDraft = Schema.Struct({
  entityId: Uuid,
  slug: Schema.String,
  locale: Schema.String,
  changes: Schema.Record(Schema.String, Schema.Unknown),
  proposedBy: Schema.NullOr(Schema.String),
  proposedAt: Time
}).annotate({ identifier: "EntityAttributesDraft" })
export type AttributesDraft = typeof AttributesDraft.Type
