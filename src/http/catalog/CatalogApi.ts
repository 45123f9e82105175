import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { Attributes, AttributesChange } from "../../domain/catalog/Attributes.ts"
import { CatalogEntity, EntityChange, NewEntity } from "../../domain/catalog/Entity.ts"
import { EntityView } from "../../domain/catalog/Expansion.ts"
import { Locale } from "../../domain/catalog/FieldText.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { FreeText } from "../../domain/text/Storable.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"

const entity = { id: Uuid }
const words = { id: Uuid, locale: Locale }

const include = Schema.optional(FreeText.annotate({
  description:
    "Comma list of attributes, variants, categories, brands, media, inventory, pricing, optionTypes, customFields."
}))

const locale = Schema.optional(Locale.annotate({
  description: "With include=attributes: the words of the first locale of its chain that has any, instead of all."
}))

const text = (description: string) => Schema.optional(FreeText.annotate({ description }))

const listQuery = {
  ...pageQuery,
  type: text("Entity type."),
  status: text("draft, active, archived or discontinued. Shoppers see active and visible entities only."),
  category: text("Category id or slug."),
  descendants: text("true: entities of the categories below `category` too."),
  brand: text("Brand id or slug."),
  sort: text("createdAt, updatedAt or slug, with :asc or :desc. Default createdAt:desc."),
  include,
  locale
}

const change = (name: "publish" | "archive" | "discontinue", summary: string) =>
  HttpApiEndpoint.post(name, `/api/catalog/entities/:id/${name}`, { params: entity, success: Data(CatalogEntity) })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary }))

/** Entities of the catalog and their words (spec §4, contract §1.2). */
export const CatalogGroup = HttpApiGroup.make("catalog").add(
  HttpApiEndpoint.get("list", "/api/catalog/entities", { query: listQuery, success: Page(EntityView) })
    .annotate(Access, anyOf("catalog:read"))
    .annotateMerge(OpenApi.annotations({ summary: "List entities" })),
  HttpApiEndpoint.get("read", "/api/catalog/entities/:id", {
    params: { id: FreeText.annotate({ description: "An id or a slug." }) },
    query: { include, locale },
    success: Data(EntityView)
  })
    .annotate(Access, anyOf("catalog:read"))
    .annotateMerge(OpenApi.annotations({ summary: "Read an entity by id or slug" })),
  HttpApiEndpoint.post("create", "/api/catalog/entities", {
    payload: NewEntity,
    success: Data(CatalogEntity).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("catalog:create"))
    .annotateMerge(OpenApi.annotations({ summary: "Create an entity, with its first words when given" })),
  HttpApiEndpoint.delete("remove", "/api/catalog/entities/:id", { params: entity, success: Deleted })
    .annotate(Access, anyOf("catalog:delete"))
    .annotateMerge(OpenApi.annotations({ summary: "Delete an entity that no cart, order or movement refers to" })),
  HttpApiEndpoint.patch("update", "/api/catalog/entities/:id", {
    params: entity,
    payload: EntityChange,
    success: Data(CatalogEntity)
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Change an entity; metadata replaces the whole object" })),
  change("publish", "Make an entity active and visible"),
  change("archive", "Archive an entity"),
  change("discontinue", "Discontinue an entity"),
  HttpApiEndpoint.get("readAttributes", "/api/catalog/entities/:id/attributes/:locale", {
    params: words,
    query: {
      fallback: text("true: the words of the first locale of its chain that has any."),
      status: text("approved: without the draft that those who keep the catalog are shown otherwise.")
    },
    success: Data(Attributes)
  })
    .annotate(Access, anyOf("catalog:read"))
    .annotateMerge(OpenApi.annotations({ summary: "Read the words of one locale" })),
  HttpApiEndpoint.put("setAttributes", "/api/catalog/entities/:id/attributes/:locale", {
    params: words,
    payload: AttributesChange,
    success: Data(Schema.Struct({ updated: Schema.Literal(true) }))
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Set words of one locale; absent keys keep their value" }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
