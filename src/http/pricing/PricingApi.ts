import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import { EntityId, PriceModifierId, VariantId } from "../../domain/platform/ids/Id.ts"
import { CurrencyCode } from "../../domain/platform/money/Money.ts"
import { pageQuery, Pagination, paginationOf } from "../../domain/platform/paging/Paging.ts"
import { Text } from "../../domain/platform/text/Storable.ts"
import { Price, SetPrice } from "../../domain/pricing/Price.ts"
import { NewPriceModifier, PriceModifier, PriceModifierChange } from "../../domain/pricing/PriceModifier.ts"
import type { PriceList } from "../../domain/pricing/Prices.ts"
import { guarded } from "../endpoint/Resource.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { StrictBody } from "../middleware/FieldHandling.ts"

/** `GET /pricing/prices`: two lists, with the pagination of the prices (contract §7). */
export const PriceListBody = Schema.Struct({
  data: Schema.Struct({ prices: Schema.Array(Price), modifiers: Schema.Array(PriceModifier) }),
  meta: Schema.Struct({ pagination: Pagination })
})

export const toPriceListBody = ({ modifiers, prices }: PriceList): typeof PriceListBody.Type => ({
  data: { prices: prices.items, modifiers },
  meta: { pagination: paginationOf(prices) }
})

// Two permissions for the same; either suffices (contract §0.3).
const mayCreate = anyOf("pricing:create", "pricing:manage")
const mayRead = anyOf("pricing:update", "pricing:read", "pricing:manage")
const mayChange = anyOf("pricing:update", "pricing:manage")

const modifier = { id: PriceModifierId }

/** Prices and modifiers (spec §4 Pricing, contract §7). Minor units. */
export const PricingGroup = guarded(
  "pricing",
  HttpApiEndpoint.post("setPrice", "/api/pricing/prices", {
    payload: SetPrice,
    success: Data(Price).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, mayCreate)
    .annotateMerge(OpenApi.annotations({
      summary: "Set a price",
      description: "Entity, variant, currency, group, quantities and times name the price: the same ones overwrite it."
    })),
  HttpApiEndpoint.get("listPrices", "/api/pricing/prices", {
    query: {
      ...pageQuery,
      entityId: Schema.optional(EntityId),
      variantId: Schema.optional(VariantId),
      currency: Schema.optional(CurrencyCode),
      customerGroupId: Schema.optional(Text)
    },
    success: PriceListBody
  })
    .annotate(Access, mayRead)
    .annotateMerge(OpenApi.annotations({
      summary: "List prices, newest first",
      description: "With them come the modifiers that may touch these prices, in order of application, at most 100."
    })),
  HttpApiEndpoint.post("createModifier", "/api/pricing/modifiers", {
    payload: NewPriceModifier,
    success: Data(PriceModifier).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, mayCreate)
    .annotateMerge(OpenApi.annotations({ summary: "Create a price modifier" })),
  HttpApiEndpoint.get("listModifiers", "/api/pricing/modifiers", {
    query: {
      ...pageQuery,
      entityId: Schema.optional(EntityId),
      currency: Schema.optional(CurrencyCode),
      active: Schema.optional(Schema.Literals(["true", "false"]))
    },
    success: Page(PriceModifier)
  })
    .annotate(Access, mayRead)
    .annotateMerge(OpenApi.annotations({ summary: "List price modifiers in order of application" })),
  HttpApiEndpoint.patch("changeModifier", "/api/pricing/modifiers/:id", {
    params: modifier,
    payload: PriceModifierChange,
    success: Data(PriceModifier)
  })
    .annotate(Access, mayChange)
    .annotateMerge(OpenApi.annotations({ summary: "Change a price modifier; null empties a field" })),
  HttpApiEndpoint.delete("deleteModifier", "/api/pricing/modifiers/:id", { params: modifier, success: Deleted })
    .annotate(Access, mayChange)
    .annotateMerge(OpenApi.annotations({ summary: "Delete a price modifier" }))
).annotateEndpoints(StrictBody, true)
