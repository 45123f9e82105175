import { Schema } from "effect"
import { Uuid } from "../../ids/Id.ts"
import { Time } from "../../pricing/Bounds.ts"
import { AnyJson, ofForm, Text } from "../../text/Storable.ts"
import { EntityType } from "../Entity.ts"
import { SortOrder } from "../FieldText.ts"

/** Kinds of custom field values (docs/catalog.md, custom fields). */
export const FieldKind = Schema.Literals([
  "text",
  "number",
  "boolean",
  "date",
  "enum",
  "money",
  "reference",
  "json"
])
export type FieldKind = typeof FieldKind.Type

/** A name that works as a search filter and fits into its index. */
export const FieldName = Schema.String.check(ofForm(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/))

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))

/** Constraints of values; each kind uses those marked with it. Lengths in characters, bounds inclusive. */
export const FieldRules = Schema.Struct({
  /** text */
  minLength: Schema.optional(Count),
  maxLength: Schema.optional(Count),
  /** number, and the amount of money in minor units */
  minimum: Schema.optional(Schema.Finite),
  maximum: Schema.optional(Schema.Finite),
  isInteger: Schema.optional(Schema.Boolean),
  /** enum */
  values: Schema.optional(Schema.Array(Text).check(Schema.isBetweenLength(1, 500))),
  /** reference: the type of the referenced entities; absent for any. */
  entityType: Schema.optional(EntityType)
})
export type FieldRules = typeof FieldRules.Type

const Flag = Schema.optional(Schema.Boolean)

/**
 * A custom field of entities of a type. Every write needs a value of a required field. No two entities of the
 * organization share a value of a unique field. Search finds filterable fields as `attr.<name>`. Only staff of the
 * catalog see fields that are not public.
 */
export const FieldDefinition = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  entityType: Schema.String,
  name: Schema.String,
  label: Schema.String,
  kind: FieldKind,
  isRequired: Schema.Boolean,
  isUnique: Schema.Boolean,
  isFilterable: Schema.Boolean,
  isPublic: Schema.Boolean,
  rules: FieldRules,
  /** The value of a new entity that sends none, and of entities without one when the field becomes required. */
  defaultValue: Schema.Unknown,
  sortOrder: Schema.Int,
  status: Schema.Literals(["active", "archived"]),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "EntityFieldDefinition" })
export type FieldDefinition = typeof FieldDefinition.Type

const optional = {
  label: Schema.optional(Text),
  isRequired: Flag,
  isUnique: Flag,
  isFilterable: Flag,
  isPublic: Flag,
  rules: Schema.optional(FieldRules),
  defaultValue: Schema.optional(AnyJson),
  sortOrder: Schema.optional(SortOrder)
}

/** Body of a new definition. The label defaults to the name, `isPublic` to true. */
export const NewFieldDefinition = Schema.Struct({
  entityType: EntityType,
  name: FieldName,
  kind: FieldKind,
  ...optional
})
export type NewFieldDefinition = typeof NewFieldDefinition.Type

/** Body of a change: absent keys keep their value, `rules` replaces all rules, a null default removes it. */
export const FieldDefinitionChange = Schema.Struct({ kind: Schema.optional(FieldKind), ...optional })
export type FieldDefinitionChange = typeof FieldDefinitionChange.Type

/** A value as the API shows it. */
export const FieldValue = Schema.Struct({
  name: Schema.String,
  label: Schema.String,
  kind: FieldKind,
  value: Schema.Unknown,
  isPublic: Schema.Boolean
}).annotate({ identifier: "EntityFieldValue" })
export type FieldValue = typeof FieldValue.Type
