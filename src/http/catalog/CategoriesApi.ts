import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { Category, CategoryChange, NewCategory } from "../../domain/catalog/categories/Category.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"
import { Linked, Unlinked } from "./Links.ts"

const category = { categoryId: Uuid }
const link = { id: Uuid, categoryId: Uuid }

const listQuery = {
  ...pageQuery,
  includeArchived: Schema.optional(Schema.String.annotate({ description: "true: archived categories too." }))
}

/** The category tree and the entities in it (spec §4, contract §1.2). */
export const CategoriesGroup = HttpApiGroup.make("categories").add(
  HttpApiEndpoint.get("list", "/api/catalog/categories", { query: listQuery, success: Page(Category) })
    .annotate(Access, anyOf("catalog:read"))
    .annotateMerge(OpenApi.annotations({ summary: "List all categories, or a page of them" })),
  HttpApiEndpoint.post("create", "/api/catalog/categories", {
    payload: NewCategory,
    success: Data(Category).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Create a category" })),
  HttpApiEndpoint.delete("remove", "/api/catalog/categories/:categoryId", { params: category, success: Deleted })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Delete a category; its children become roots" })),
  HttpApiEndpoint.patch("update", "/api/catalog/categories/:categoryId", {
    params: category,
    payload: CategoryChange,
    success: Data(Category)
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Change or move a category" })),
  HttpApiEndpoint.post("archive", "/api/catalog/categories/:categoryId/archive", {
    params: category,
    success: Data(Category)
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Leave a category out of lists" })),
  HttpApiEndpoint.post("restore", "/api/catalog/categories/:categoryId/restore", {
    params: category,
    success: Data(Category)
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Bring an archived category back" })),
  HttpApiEndpoint.post("link", "/api/catalog/entities/:id/categories/:categoryId", { params: link, success: Linked })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Put an entity into a category" })),
  HttpApiEndpoint.delete("unlink", "/api/catalog/entities/:id/categories/:categoryId", {
    params: link,
    success: Unlinked
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Take an entity out of a category" }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
