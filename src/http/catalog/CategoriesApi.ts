import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { Brand, BrandChange, NewBrand } from "../../domain/catalog/brands/Brand.ts"
import {
  Category,
  CategoryChange,
  CategoryMove,
  NewCategory,
  PlacedCategory
} from "../../domain/catalog/categories/Category.ts"
import { asFlag, wholeNumber } from "../../domain/platform/hints/Hints.ts"
import { BrandId, CategoryId, EntityId } from "../../domain/platform/ids/Id.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import { FreeText } from "../../domain/platform/text/Storable.ts"
import { Created, described, guarded } from "../endpoint/Resource.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"

const [categories, category] = ["/api/catalog/categories", "/api/catalog/categories/:categoryId"] as const
const [brands, brand] = ["/api/catalog/brands", "/api/catalog/brands/:brandId"] as const

const byId = { categoryId: CategoryId }
const byName = { categoryId: FreeText }
const ofBrand = { brandId: BrandId }

const Linked = Data(Schema.Struct({ linked: Schema.Literal(true) }))
const Unlinked = Data(Schema.Struct({ unlinked: Schema.Literal(true) }))

const includeArchived = Schema.optional(
  Schema.String.annotate({ description: "true: archived categories too.", ...asFlag })
)

const Levels = wholeNumber(0, 1000, "Levels below the category. Default: all.")

/** Categories and their entities (spec §4, contract §1.2). */
export const CategoriesGroup = guarded(
  "categories",
  HttpApiEndpoint.get("list", categories, { query: { ...pageQuery, includeArchived }, success: Page(Category) })
    .annotateMerge(described("List all categories, or a page of them", "catalog:read")),
  HttpApiEndpoint.post("create", categories, { payload: NewCategory, success: Created(Category) })
    .annotateMerge(described("Create a category", "catalog:update")),
  HttpApiEndpoint.delete("remove", category, { params: byId, success: Deleted })
    .annotateMerge(described("Delete a category; its children become roots", "catalog:update")),
  HttpApiEndpoint.patch("update", category, { params: byId, payload: CategoryChange, success: Data(Category) })
    .annotateMerge(described("Change or move a category", "catalog:update")),
  HttpApiEndpoint.post("archive", `${category}/archive`, { params: byId, success: Data(Category) })
    .annotateMerge(described("Archive a category, which leaves it out of lists", "catalog:update")),
  HttpApiEndpoint.post("restore", `${category}/restore`, { params: byId, success: Data(Category) })
    .annotateMerge(described("Restore an archived category", "catalog:update")),
  HttpApiEndpoint.post("link", "/api/catalog/entities/:id/categories/:categoryId", {
    params: { id: EntityId, ...byId },
    success: Linked
  }).annotateMerge(described("Add an entity to a category", "catalog:update")),
  HttpApiEndpoint.delete("unlink", "/api/catalog/entities/:id/categories/:categoryId", {
    params: { id: EntityId, ...byId },
    success: Unlinked
  }).annotateMerge(described("Remove an entity from a category", "catalog:update"))
)

export const CategoryTreeGroup = guarded(
  "categoryTree",
  HttpApiEndpoint.get("read", category, { params: byName, success: Data(PlacedCategory) })
    .annotateMerge(described("Get a category by id or slug, with its path from the root", "catalog:read")),
  HttpApiEndpoint.get("subtree", `${category}/subtree`, {
    params: byName,
    query: {
      depth: Schema.optional(Levels),
      includeArchived
    },
    success: Data(Schema.Array(PlacedCategory))
  }).annotateMerge(described("List a category and all below it, each parent before its children", "catalog:read")),
  HttpApiEndpoint.post("move", `${category}/move`, {
    params: byId,
    payload: CategoryMove,
    success: Data(PlacedCategory)
  }).annotateMerge(described("Move a category to another parent or another place among siblings", "catalog:update"))
)

/** Brands and their entities (spec §4, contract §1.2). */
export const BrandsGroup = guarded(
  "brands",
  HttpApiEndpoint.get("list", brands, { query: pageQuery, success: Page(Brand) })
    .annotateMerge(described("List all brands, or a page of them", "catalog:read")),
  HttpApiEndpoint.post("create", brands, { payload: NewBrand, success: Created(Brand) })
    .annotateMerge(described("Create a brand", "catalog:update")),
  HttpApiEndpoint.delete("remove", brand, { params: ofBrand, success: Deleted })
    .annotateMerge(described("Delete a brand", "catalog:update")),
  HttpApiEndpoint.patch("update", brand, { params: ofBrand, payload: BrandChange, success: Data(Brand) })
    .annotateMerge(described("Change a brand", "catalog:update")),
  HttpApiEndpoint.post("link", "/api/catalog/entities/:id/brands/:brandId", {
    params: { id: EntityId, ...ofBrand },
    success: Linked
  }).annotateMerge(described("Add a brand to an entity", "catalog:update")),
  HttpApiEndpoint.delete("unlink", "/api/catalog/entities/:id/brands/:brandId", {
    params: { id: EntityId, ...ofBrand },
    success: Unlinked
  }).annotateMerge(described("Remove a brand from an entity", "catalog:update"))
)
