import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { keyText, StorableObject } from "../text/Storable.ts"
import { NewAttributes } from "./Attributes.ts"
import { Slug } from "./FieldText.ts"

const Time = Schema.Date.annotate({ format: "date-time" })

/** Any status may follow any other (spec §3). Shoppers see `active` and visible entities only. */
export const EntityStatus = Schema.Literals(["draft", "active", "archived", "discontinued"])
export type EntityStatus = typeof EntityStatus.Type

/** An item of the catalog (spec §2, contract §1.1). `type` is free text, `taxClass` names a tax class. */
export const CatalogEntity = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  sourceStoreId: Schema.NullOr(Schema.String),
  type: Schema.String,
  slug: Schema.String,
  status: EntityStatus,
  isVisible: Schema.Boolean,
  taxClass: Schema.NullOr(Schema.String),
  metadata: Schema.Record(Schema.String, Schema.Unknown),
  createdAt: Time,
  updatedAt: Time,
  publishedAt: Schema.NullOr(Time)
}).annotate({ identifier: "CatalogEntity" })
export type CatalogEntity = typeof CatalogEntity.Type

/** Values of custom fields by name; the definitions of the type constrain them (docs/catalog.md). */
const CustomFields = Schema.optional(StorableObject)

export const EntityType = keyText(100)
export const TaxClass = keyText(100)

/** Body of a new entity. `status` defaults to `draft`; an `active` entity is visible and published at once. */
export const NewEntity = Schema.Struct({
  type: EntityType,
  slug: Slug,
  status: Schema.optional(EntityStatus),
  metadata: Schema.optional(StorableObject),
  taxClass: Schema.optional(Schema.NullOr(TaxClass)),
  attributes: Schema.optional(NewAttributes),
  customFields: CustomFields
})
export type NewEntity = typeof NewEntity.Type

/**
 * Body of a change: absent keys keep their value, also within `customFields`. Null clears a custom field or the tax class.
 * `metadata` replaces the object.
 */
export const EntityChange = Schema.Struct({
  slug: Schema.optional(Slug),
  status: Schema.optional(EntityStatus),
  metadata: Schema.optional(StorableObject),
  isVisible: Schema.optional(Schema.Boolean),
  taxClass: Schema.optional(Schema.NullOr(TaxClass)),
  customFields: CustomFields
})
export type EntityChange = typeof EntityChange.Type
