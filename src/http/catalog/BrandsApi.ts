import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { Brand, BrandChange, NewBrand } from "../../domain/catalog/brands/Brand.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"
import { Linked, Unlinked } from "./Links.ts"

const brand = { brandId: Uuid }
const link = { id: Uuid, brandId: Uuid }

/** Brands and the entities they make (spec §4, contract §1.2). */
export const BrandsGroup = HttpApiGroup.make("brands").add(
  HttpApiEndpoint.get("list", "/api/catalog/brands", { query: pageQuery, success: Page(Brand) })
    .annotate(Access, anyOf("catalog:read"))
    .annotateMerge(OpenApi.annotations({ summary: "List all brands, or a page of them" })),
  HttpApiEndpoint.post("create", "/api/catalog/brands", {
    payload: NewBrand,
    success: Data(Brand).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Create a brand" })),
  HttpApiEndpoint.delete("remove", "/api/catalog/brands/:brandId", { params: brand, success: Deleted })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Delete a brand" })),
  HttpApiEndpoint.patch("update", "/api/catalog/brands/:brandId", {
    params: brand,
    payload: BrandChange,
    success: Data(Brand)
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Change a brand" })),
  HttpApiEndpoint.post("link", "/api/catalog/entities/:id/brands/:brandId", { params: link, success: Linked })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Give an entity a brand" })),
  HttpApiEndpoint.delete("unlink", "/api/catalog/entities/:id/brands/:brandId", { params: link, success: Unlinked })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(OpenApi.annotations({ summary: "Take a brand from an entity" }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
