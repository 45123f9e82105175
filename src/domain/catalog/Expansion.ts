import { Schema, Struct } from "effect"
import { Uuid } from "../ids/Id.ts"
import { Attributes } from "./Attributes.ts"
import { CatalogEntity } from "./Entity.ts"
import { FieldValue } from "./fields/FieldDefinition.ts"
import { OptionType, OptionValue } from "./variants/Option.ts"
import { Variant } from "./variants/Variant.ts"

const amount = Schema.Finite
const Metadata = Schema.Record(Schema.String, Schema.Unknown)

/** ISO 8601 with milliseconds and Z, formatted by the database: expansions go into the response unchanged. */
const IsoTime = Schema.String.annotate({ format: "date-time" })

/** A category of an entity with its link. */
const LinkedCategory = Schema.Struct({
  entityId: Uuid,
  categoryId: Uuid,
  sortOrder: Schema.Int,
  slug: Schema.String,
  parentId: Schema.NullOr(Uuid),
  metadata: Metadata
}).annotate({ identifier: "LinkedCategory" })

/** A brand of an entity with its link. */
const LinkedBrand = Schema.Struct({
  entityId: Uuid,
  brandId: Uuid,
  sortOrder: Schema.Int,
  slug: Schema.String,
  displayName: Schema.String
}).annotate({ identifier: "LinkedBrand" })

const LinkedMedia = Schema.Struct({
  mediaAssetId: Uuid,
  role: Schema.String,
  sortOrder: Schema.Int,
  variantId: Schema.NullOr(Uuid),
  url: Schema.String,
  alt: Schema.NullOr(Schema.String),
  contentType: Schema.String
}).annotate({ identifier: "LinkedMedia" })

/** Stock of the entity or a variant: per warehouse for staff, in total for shoppers. */
const LinkedStock = Schema.Struct({
  warehouseId: Schema.optional(Uuid),
  variantId: Schema.NullOr(Uuid),
  onHand: Schema.optional(Schema.Int),
  reserved: Schema.optional(Schema.Int),
  available: Schema.Int
}).annotate({
  identifier: "LinkedStock",
  description:
    "With `inventory:read` one item per warehouse, where available = onHand - reserved. Without it one item per "
    + "variant: what all active warehouses have available, and neither `warehouseId`, `onHand` nor `reserved`."
})

/** A price of the entity or a variant; amounts in minor units of `currency`. */
const LinkedPrice = Schema.Struct({
  id: Uuid,
  currency: Schema.String,
  amount,
  compareAtAmount: Schema.NullOr(amount),
  variantId: Schema.NullOr(Uuid),
  customerGroupId: Schema.NullOr(Schema.String),
  minQuantity: Schema.NullOr(Schema.Int),
  maxQuantity: Schema.NullOr(Schema.Int),
  validFrom: Schema.NullOr(IsoTime),
  validUntil: Schema.NullOr(IsoTime),
  createdAt: IsoTime
}).annotate({
  identifier: "LinkedPrice",
  description:
    "Callers without a permission to read prices or `catalog:update` get the prices that hold now for all customers and for their "
    + "own customer groups."
})

const OptionAxis = Schema.Struct({ ...OptionType.fields, values: Schema.Array(OptionValue) })
  .annotate({ identifier: "OptionAxis" })

const expansions = {
  attributes: Schema.optional(Schema.Array(Attributes)),
  variants: Schema.optional(Schema.Array(Variant)),
  categories: Schema.optional(Schema.Array(LinkedCategory)),
  brands: Schema.optional(Schema.Array(LinkedBrand)),
  media: Schema.optional(Schema.Array(LinkedMedia)),
  inventory: Schema.optional(Schema.Array(LinkedStock)),
  pricing: Schema.optional(Schema.Array(LinkedPrice)),
  optionTypes: Schema.optional(Schema.Array(OptionAxis)),
  customFields: Schema.optional(Schema.Array(FieldValue))
}

const Expansions = Schema.Struct(expansions)
export type Expansions = typeof Expansions.Type
/** A part of an entity that a request can include. */
export type Include = keyof Expansions

/**
 * An entity as reads return it, with keys for the requested expansions only. The marketplace plugin adds `marketplace` in
 * `catalog.afterRead` and `catalog.afterList` (contract, plugins §1.3).
 */
export const EntityView = Schema.Struct({
  ...CatalogEntity.fields,
  ...expansions,
  marketplace: Schema.optional(Metadata)
})
  .annotate({ identifier: "CatalogEntityView" })
export type EntityView = typeof EntityView.Type

const names = Struct.keys(expansions)

/**
 * The `include` parameter: a comma list; unknown names are ignored (contract §1.1). The fixed order keeps the number of
 * different statements small.
 */
export const includesOf = (text: string | undefined): ReadonlyArray<Include> => {
  if (text === undefined) return []
  const requested = new Set(text.split(",").map((name) => name.trim()))
  return names.filter((name) => requested.has(name))
}

/** A read of one entity; before-hooks may change it (contract §0.5). */
export interface EntityRead {
  readonly id?: string
  readonly slug?: string
  /** With a `locale`, attributes of the first locale of its chain that has any, instead of all. */
  readonly options: { readonly include: ReadonlyArray<Include>; readonly locale?: string | undefined }
}
