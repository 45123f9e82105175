import { Effect, Schema, Struct } from "effect"
import { invalid } from "../platform/errors/ErrorKinds.ts"
import { about, money, typedAs } from "../platform/hints/Hints.ts"
import { BrandId, CategoryId, EntityId, MediaAssetId, PriceId, VariantId, WarehouseId } from "../platform/ids/Id.ts"
import { Currency, maxMinor } from "../platform/money/Money.ts"
import type { PageOf, PageRequest } from "../platform/paging/Paging.ts"
import { TimeText } from "../platform/text/Time.ts"
import { Brand } from "./brands/Brand.ts"
import { Category } from "./categories/Category.ts"
import { Attributes, CatalogEntity, type EntityChange, type NewEntity } from "./Entity.ts"
import { FieldValue } from "./fields/FieldDefinition.ts"
import { OptionType, OptionValue, Variant } from "./variants/Variant.ts"

const amount = Schema.Finite.annotate({ ...money, ...typedAs({ type: "integer", minimum: 0, maximum: maxMinor }) })

/** The database formats ISO 8601 with milliseconds and Z: expansions go into the response unchanged. */
const IsoTime = TimeText

const LinkedCategory = Schema.Struct({
  entityId: EntityId,
  categoryId: CategoryId,
  sortOrder: Schema.Int.pipe(about("Lower goes first.")),
  slug: Schema.String,
  ...Struct.pick(Category.fields, ["parentId", "metadata"])
}).annotate({ identifier: "LinkedCategory" })

const LinkedBrand = Schema.Struct({
  entityId: EntityId,
  brandId: BrandId,
  sortOrder: Schema.Int.pipe(about("Lower goes first.")),
  ...Struct.pick(Brand.fields, ["slug", "displayName"])
}).annotate({ identifier: "LinkedBrand" })

const LinkedMedia = Schema.Struct({
  mediaAssetId: MediaAssetId,
  role: Schema.String.pipe(about("Use of the picture, such as primary or gallery.")),
  sortOrder: Schema.Int.pipe(about("Lower goes first.")),
  variantId: Schema.NullOr(VariantId),
  url: Schema.String,
  alt: Schema.NullOr(Schema.String),
  contentType: Schema.String
}).annotate({ identifier: "LinkedMedia" })

const LinkedStock = Schema.Struct({
  warehouseId: Schema.optional(WarehouseId),
  variantId: Schema.NullOr(VariantId),
  onHand: Schema.optional(Schema.Int).pipe(about("Units in the warehouse, reserved ones included.")),
  reserved: Schema.optional(Schema.Int).pipe(about("Units that orders and checkouts hold.")),
  available: Schema.Int.pipe(about("Units that can be sold now."))
}).annotate({
  identifier: "LinkedStock",
  description:
    "With `inventory:read` one item per warehouse, where available = onHand - reserved. Without it one item per "
    + "variant: what all active warehouses have available, and neither `warehouseId`, `onHand` nor `reserved`."
})

const LinkedPrice = Schema.Struct({
  id: PriceId,
  currency: Currency,
  amount,
  compareAtAmount: Schema.NullOr(amount),
  variantId: Schema.NullOr(VariantId),
  customerGroupId: Schema.NullOr(Schema.String),
  minQuantity: Schema.NullOr(Schema.Int).pipe(about("Fewest units of a line that has the price; null: no limit.")),
  maxQuantity: Schema.NullOr(Schema.Int).pipe(about("Most units of a line that has the price; null: no limit.")),
  validFrom: Schema.NullOr(IsoTime),
  validUntil: Schema.NullOr(IsoTime),
  createdAt: IsoTime
}).annotate({
  identifier: "LinkedPrice",
  description:
    "Callers without a permission to read prices or `catalog:update` get the prices that hold now for all customers and for their "
    + "own customer groups."
})

const OptionAxis = Schema.Struct({
  ...OptionType.fields,
  values: Schema.Array(OptionValue).pipe(about("Choices, in their order."))
})
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
  customFields: Schema.optional(Schema.Array(FieldValue)).pipe(
    about("Values of the custom fields of its type that the caller may see.")
  )
}

const Expansions = Schema.Struct(expansions)
export type Expansions = typeof Expansions.Type
export type Include = keyof Expansions

/**
 * An entity with the requested expansions. Hooks of plugins add `marketplace` (contract, plugins §1.3) or `extensions`.
 */
export const EntityView = Schema.Struct({
  ...CatalogEntity.fields,
  ...expansions,
  marketplace: Schema.optional(Schema.Record(Schema.String, Schema.Unknown)).pipe(
    about("Vendor that sells it; only with the marketplace plugin.")
  ),
  extensions: Schema.optional(
    Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Unknown)).annotate({
      description: "Values of plugins, by their ids, for example `reviews.averageRating`."
    })
  )
}).annotate({ identifier: "CatalogEntityView" })
export type EntityView = typeof EntityView.Type

export const includeNames = Struct.keys(expansions)

/**
 * Parses `include`: the answer names unknown ones (contract §1.1). The fixed order keeps the number of statements small.
 */
export const includesOf = (text: string | undefined): ReadonlyArray<Include> => {
  if (text === undefined) return []
  const requested = new Set(text.split(",").map((name) => name.trim()))
  return includeNames.filter((name) => requested.has(name))
}

export interface EntityRead {
  readonly id?: EntityId
  readonly slug?: string
  readonly options: { readonly include: ReadonlyArray<Include>; readonly locale?: string | undefined }
}

export interface EntityQuery extends PageRequest {
  readonly type?: string | undefined
  readonly status?: string | undefined
  /** Id or slug; 422 for an unknown one. */
  readonly category?: string | undefined
  readonly descendants?: boolean | undefined
  readonly brand?: string | undefined
  readonly sort: EntitySort
  readonly locale?: string | undefined
  readonly include: ReadonlyArray<Include>
  /** Set by the hook `catalog.beforeList`, never by a request. */
  readonly ids?: ReadonlyArray<EntityId> | undefined
  /** Texts as shoppers see them, also for those who see what waits for approval. Set by code, never by a request. */
  readonly approvedOnly?: boolean | undefined
}

const sortFields = ["createdAt", "updatedAt", "slug"] as const

export interface EntitySort {
  readonly field: typeof sortFields[number]
  readonly ascending: boolean
}

class UnknownSort extends invalid("UnknownSort", "sort", "must be createdAt, updatedAt or slug, with :asc or :desc.") {}

/** Parses `field:direction`: newest first when absent, 422 for a field that cannot be sorted by (contract §1.2). */
export const sortOf = (text: string | undefined): Effect.Effect<EntitySort, UnknownSort> => {
  if (text === undefined || text === "") return Effect.succeed({ field: "createdAt", ascending: false })
  const [name, direction] = text.split(":")
  const field = sortFields.find((one) => one === name)
  return field === undefined
    ? Effect.fail(new UnknownSort())
    : Effect.succeed({ field, ascending: direction === "asc" })
}

export interface Categorized {
  readonly entityId: EntityId | null
  readonly categories: ReadonlyArray<string>
  readonly metadata: Readonly<Record<string, unknown>> | null
}

export interface ImportedEntities {
  readonly created: ReadonlyArray<CatalogEntity>
  readonly updated: ReadonlyArray<{ readonly entity: CatalogEntity; readonly old: CatalogEntity }>
}

declare module "../platform/hooks/HookMap.ts" {
  interface BeforeHooks {
    readonly "catalog.beforeCreate": NewEntity
    readonly "catalog.beforeUpdate": EntityChange
    readonly "catalog.beforeDelete": EntityView
    readonly "catalog.beforeRead": EntityRead
    readonly "catalog.beforeList": EntityQuery
    readonly "catalog.beforeCategorize": Categorized
    readonly "catalog.beforeCommit": ImportedEntities
    readonly [ofType: `catalog.${string}.beforeCreate`]: NewEntity
    readonly [ofType: `catalog.${string}.beforeUpdate`]: EntityChange
    readonly [ofType: `catalog.${string}.beforeDelete`]: EntityView
    readonly [ofType: `catalog.${string}.beforeRead`]: EntityRead
    readonly [ofType: `catalog.${string}.beforeList`]: EntityQuery
  }
  interface AfterHooks {
    readonly "catalog.afterCreate": { readonly result: CatalogEntity; readonly data: NewEntity }
    readonly "catalog.afterUpdate": { readonly result: CatalogEntity; readonly data: CatalogEntity }
    readonly "catalog.afterDelete": { readonly result: CatalogEntity; readonly data: never }
    readonly "catalog.afterRead": { readonly result: EntityView; readonly data: EntityRead }
    readonly "catalog.afterList": { readonly result: PageOf<EntityView>; readonly data: EntityQuery }
    readonly [ofType: `catalog.${string}.afterCreate`]: { readonly result: CatalogEntity; readonly data: NewEntity }
    readonly [ofType: `catalog.${string}.afterUpdate`]: {
      readonly result: CatalogEntity
      readonly data: CatalogEntity
    }
    readonly [ofType: `catalog.${string}.afterDelete`]: { readonly result: CatalogEntity; readonly data: never }
    readonly [ofType: `catalog.${string}.afterRead`]: { readonly result: EntityView; readonly data: EntityRead }
    readonly [ofType: `catalog.${string}.afterList`]: {
      readonly result: PageOf<EntityView>
      readonly data: EntityQuery
    }
  }
}
