import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { CategoryMove, PlacedCategory } from "../../domain/catalog/categories/CategoryTree.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { FreeText } from "../../domain/text/Storable.ts"
import { Data } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"

const named = { categoryId: FreeText }

const Levels = Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum: 1000 }))

/** The tree of categories, beyond what the specification lists of it (docs/catalog.md). */
export const CategoryTreeGroup = HttpApiGroup.make("categoryTree").add(
  HttpApiEndpoint.get("read", "/api/catalog/categories/:categoryId", {
    params: named,
    success: Data(PlacedCategory)
  })
    .annotate(Access, anyOf("catalog:read"))
    .annotateMerge(OpenApi.annotations({ summary: "Read a category by id or slug, with the way from the root to it" })),
  HttpApiEndpoint.get("subtree", "/api/catalog/categories/:categoryId/subtree", {
    params: named,
    query: {
      depth: Schema.optional(Levels.annotate({ description: "Levels below the category. Default: all." })),
      includeArchived: Schema.optional(Schema.String.annotate({ description: "true: archived categories too." }))
    },
    success: Data(Schema.Array(PlacedCategory))
  })
    .annotate(Access, anyOf("catalog:read"))
    .annotateMerge(
      OpenApi.annotations({ summary: "List a category and all below it, each parent before its children" })
    ),
  HttpApiEndpoint.post("move", "/api/catalog/categories/:categoryId/move", {
    params: { categoryId: Uuid },
    payload: CategoryMove,
    success: Data(PlacedCategory)
  })
    .annotate(Access, anyOf("catalog:update"))
    .annotateMerge(
      OpenApi.annotations({ summary: "Move a category to another parent or another place among siblings" })
    )
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
