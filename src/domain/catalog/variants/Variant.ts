import { Schema } from "effect"
import { Uuid } from "../../ids/Id.ts"
import { keyText, ShortText } from "../../text/Storable.ts"
import { TaxClass } from "../Entity.ts"

/** One sellable combination of an entity's option values (contract §1.1); a combination exists once per entity. */
export const Variant = Schema.Struct({
  id: Uuid,
  entityId: Uuid,
  organizationId: Schema.String,
  sourceStoreId: Schema.NullOr(Schema.String),
  sku: Schema.NullOr(Schema.String),
  barcode: Schema.NullOr(Schema.String),
  taxClass: Schema.NullOr(Schema.String),
  status: Schema.Literals(["active", "discontinued"]),
  sortOrder: Schema.Int,
  metadata: Schema.Record(Schema.String, Schema.Unknown),
  optionValueIds: Schema.Array(Uuid)
}).annotate({ identifier: "Variant" })
export type Variant = typeof Variant.Type

const Code = Schema.optional(Schema.NullOr(keyText(255)))

/** Body of a new variant: `options` maps option names to values and may be empty. */
export const NewVariant = Schema.Struct({
  options: Schema.Record(Schema.String, ShortText).check(Schema.isMaxProperties(100)),
  sku: Code,
  barcode: Code,
  taxClass: Schema.optional(Schema.NullOr(TaxClass))
})
export type NewVariant = typeof NewVariant.Type

const Combination = Schema.Array(Uuid).check(Schema.isMaxLength(100))
const Combinations = Schema.Array(Combination).check(Schema.isMaxLength(1000))

/**
 * Body of generate (contract §1.2). `all`: the full product of the entity's option values. `manual`: the combinations
 * given. `matrix`: the full product without those that contain an exclude pattern and, when there are include patterns,
 * only those that contain one.
 */
export const Generate = Schema.Union([
  Schema.Struct({ mode: Schema.Literal("all") }),
  Schema.Struct({ mode: Schema.Literal("manual"), combinations: Combinations }),
  Schema.Struct({
    mode: Schema.Literal("matrix"),
    matrix: Schema.Struct({ include: Schema.optional(Combinations), exclude: Schema.optional(Combinations) })
  })
])
export type Generate = typeof Generate.Type
