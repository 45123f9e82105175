import { Schema, SchemaGetter } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import {
  Attributes,
  AttributesChange,
  CatalogEntity,
  EntityChange,
  Locale,
  NewEntity
} from "../../domain/catalog/Entity.ts"
import { EntityView, includeNames } from "../../domain/catalog/EntityView.ts"
import {
  CreatedVariant,
  Generate,
  NewOptionType,
  NewOptionValue,
  NewVariant,
  OptionType,
  OptionValue,
  Variant
} from "../../domain/catalog/variants/Variant.ts"
import { Issue } from "../../domain/platform/errors/ApiErrors.ts"
import { asFlag } from "../../domain/platform/hints/Hints.ts"
import { EntityId, OptionTypeId } from "../../domain/platform/ids/Id.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import { FreeText } from "../../domain/platform/text/Storable.ts"
import { Created, described, guarded } from "../endpoint/Resource.ts"
import { Data, Deleted, OptionalBody, Page } from "../envelope/Envelope.ts"
import { listing } from "../middleware/UnknownFields.ts"

const entity = { id: EntityId }
const words = { id: EntityId, locale: Locale }

const include = Schema.optional(FreeText.annotate({
  description:
    "Comma list of attributes, variants, categories, brands, media, inventory, pricing, optionTypes, customFields.",
  ...listing(includeNames)
}))

const locale = Schema.optional(Locale.annotate({
  description: "With include=attributes: the words of the first locale of its chain that has any, instead of all."
}))

const text = (description: string, type = {}) => Schema.optional(FreeText.annotate({ description, ...type }))

const listQuery = {
  ...pageQuery,
  type: text("Entity type."),
  status: text("draft, active, archived or discontinued. Shoppers see active and visible entities only."),
  category: text("Category id or slug."),
  descendants: text("true: entities of the categories below `category` too.", asFlag),
  brand: text("Brand id or slug."),
  sort: text("createdAt, updatedAt or slug, with :asc or :desc. Default createdAt:desc."),
  include,
  locale
}

const change = (name: "publish" | "archive" | "discontinue", summary: string) =>
  HttpApiEndpoint.post(name, `/api/catalog/entities/:id/${name}`, { params: entity, success: Data(CatalogEntity) })
    .annotateMerge(described(summary, "catalog:update"))

/** Entities of the catalog (spec §4, contract §1.2). */
export const CatalogGroup = guarded(
  "catalog",
  HttpApiEndpoint.get("list", "/api/catalog/entities", { query: listQuery, success: Page(EntityView) })
    .annotateMerge(described("List entities", "catalog:read")),
  HttpApiEndpoint.get("read", "/api/catalog/entities/:id", {
    params: { id: FreeText.annotate({ description: "An id or a slug." }) },
    query: { include, locale },
    success: Data(EntityView)
  }).annotateMerge(described("Get an entity by id or slug", "catalog:read")),
  HttpApiEndpoint.post("create", "/api/catalog/entities", { payload: NewEntity, success: Created(CatalogEntity) })
    .annotateMerge(described("Create an entity, with its first words when given", "catalog:create")),
  HttpApiEndpoint.delete("remove", "/api/catalog/entities/:id", { params: entity, success: Deleted })
    .annotateMerge(described("Delete an entity that no cart, order or movement refers to", "catalog:delete")),
  HttpApiEndpoint.patch("update", "/api/catalog/entities/:id", {
    params: entity,
    payload: EntityChange,
    success: Data(CatalogEntity)
  }).annotateMerge(described("Change an entity; metadata replaces the whole object", "catalog:update")),
  change("publish", "Publish an entity: make it active and visible"),
  change("archive", "Archive an entity"),
  change("discontinue", "Discontinue an entity"),
  HttpApiEndpoint.get("readAttributes", "/api/catalog/entities/:id/attributes/:locale", {
    params: words,
    query: {
      fallback: text("true: the words of the first locale of its chain that has any.", asFlag),
      status: text("approved: without the draft that those who keep the catalog are shown otherwise.")
    },
    success: Data(Attributes)
  }).annotateMerge(described("Get the texts of an entity in one locale", "catalog:read")),
  HttpApiEndpoint.put("setAttributes", "/api/catalog/entities/:id/attributes/:locale", {
    params: words,
    payload: AttributesChange,
    success: Data(Schema.Struct({ updated: Schema.Literal(true) }))
  }).annotateMerge(described("Set words of one locale; absent keys keep their value", "catalog:update"))
)

const VariantAnswer = Schema.Struct({
  data: Variant,
  meta: Schema.optionalKey(Schema.Struct({
    warnings: Schema.Array(Issue).annotate({ description: "For example, that other variants have this SKU too." })
  }))
}).pipe(
  Schema.decodeTo(Schema.toType(CreatedVariant), {
    decode: SchemaGetter.transform(({ data, meta }): CreatedVariant => ({ ...data, ...meta })),
    encode: SchemaGetter.transform(({ warnings, ...data }: CreatedVariant) => ({
      data,
      ...(warnings === undefined ? {} : { meta: { warnings } })
    }))
  })
)

/** Options and variants (spec §4, contract §1.2). */
export const VariantsGroup = guarded(
  "variants",
  HttpApiEndpoint.post("createOptionType", "/api/catalog/entities/:id/options", {
    params: entity,
    payload: NewOptionType,
    success: Created(OptionType)
  }).annotateMerge(described("Add an option type to an entity, with its values", "catalog:update")),
  HttpApiEndpoint.post("createOptionValue", "/api/catalog/options/:optionTypeId/values", {
    params: { optionTypeId: OptionTypeId },
    payload: NewOptionValue,
    success: Created(OptionValue)
  }).annotateMerge(described("Add a value to an option type", "catalog:update")),
  HttpApiEndpoint.post("create", "/api/catalog/entities/:id/variants", {
    params: entity,
    payload: NewVariant,
    success: VariantAnswer.pipe(HttpApiSchema.status(201))
  }).annotateMerge(described("Create one variant", "catalog:update")),
  // No body means mode `all`.
  HttpApiEndpoint.post("generate", "/api/catalog/entities/:id/variants/generate", {
    params: entity,
    payload: OptionalBody(Generate),
    success: Created(Schema.Array(Variant))
  }).annotateMerge(
    described("Create the missing variants of all, given or selected combinations", "catalog:update")
  )
)
