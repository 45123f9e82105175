import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf, open } from "../../domain/platform/access/AccessRule.ts"
import { PromotionId } from "../../domain/platform/ids/Id.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import {
  NewPromotion,
  Promotion,
  PromotionChange,
  PromotionQuote,
  PromotionStatus,
  PromotionTrial
} from "../../domain/promotions/Promotion.ts"
import { guarded } from "../endpoint/Resource.ts"
import { Data, Page } from "../envelope/Envelope.ts"
import { RouteRate } from "../middleware/Access.ts"
import { StrictBody } from "../middleware/FieldHandling.ts"

const promotion = { id: PromotionId }

// Two permissions for the same; either suffices (contract §0.3).
const mayChange = anyOf("promotions:update", "promotions:manage")

/** Promotions (spec §4 Promotions, contract §8). Minor units. */
export const PromotionsGroup = guarded(
  "promotions",
  HttpApiEndpoint.post("create", "/api/promotions", {
    payload: NewPromotion,
    success: Data(Promotion).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("promotions:create", "promotions:manage"))
    .annotate(StrictBody, true)
    .annotateMerge(OpenApi.annotations({ summary: "Create a promotion", description: "409 when its code is taken." })),
  HttpApiEndpoint.get("list", "/api/promotions", {
    query: { ...pageQuery, status: Schema.optional(PromotionStatus) },
    success: Page(Promotion)
  })
    .annotate(Access, anyOf("promotions:read", "promotions:manage", "promotions:update"))
    .annotateMerge(OpenApi.annotations({ summary: "List promotions by priority, the active ones by default" })),
  HttpApiEndpoint.patch("change", "/api/promotions/:id", {
    params: promotion,
    payload: PromotionChange,
    success: Data(Promotion)
  })
    .annotate(Access, mayChange)
    .annotate(StrictBody, true)
    .annotateMerge(OpenApi.annotations({ summary: "Change a promotion; null empties a field" })),
  HttpApiEndpoint.post("validate", "/api/promotions/validate", {
    payload: PromotionTrial,
    success: Data(PromotionQuote)
  })
    .annotate(Access, open)
    .annotate(RouteRate, "promotionTrial")
    .annotateMerge(OpenApi.annotations({
      summary: "Validate a promotion code for an order",
      description: "404 for an unknown code, 422 with the reason for one that does not apply. Nothing is used up."
    })),
  HttpApiEndpoint.post("deactivate", "/api/promotions/:id/deactivate", {
    params: promotion,
    success: Data(Promotion)
  })
    .annotate(Access, mayChange)
    .annotateMerge(OpenApi.annotations({ summary: "Deactivate a promotion; repeating it changes nothing" }))
)
