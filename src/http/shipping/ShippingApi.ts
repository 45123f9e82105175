import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { ShippingQuote, ShippingQuoteRequest } from "../../domain/checkout/Checkout.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { CurrencyCode } from "../../domain/money/Currency.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { NewShippingRate, ShippingRate, ShippingRateChange } from "../../domain/shipping/ShippingRate.ts"
import { NewShippingZone, ShippingZone, ShippingZoneChange } from "../../domain/shipping/ShippingZone.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"
import { OpensWithCartSecret } from "../openapi/HeaderParameters.ts"

const manage = anyOf("shipping:manage")
const one = { id: Uuid }
const zones = "/api/shipping/zones"
const rates = "/api/shipping/rates"

/** Shipping zones and rates (contract §3.4, §3.8). Amounts in minor units, weights in grams. */
export const ShippingGroup = HttpApiGroup.make("shipping").add(
  HttpApiEndpoint.get("listZones", zones, { query: pageQuery, success: Page(ShippingZone) })
    .annotateMerge(OpenApi.annotations({ summary: "List shipping zones in the order in which they are tried" })),
  HttpApiEndpoint.post("createZone", zones, {
    payload: NewShippingZone,
    success: Data(ShippingZone).pipe(HttpApiSchema.status(201))
  })
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Create a shipping zone",
      description: "From the first active zone on, addresses that no zone serves are refused. 409 for a taken name."
    })),
  HttpApiEndpoint.get("readZone", `${zones}/:id`, { params: one, success: Data(ShippingZone) })
    .annotateMerge(OpenApi.annotations({ summary: "Read a shipping zone" })),
  HttpApiEndpoint.patch("changeZone", `${zones}/:id`, {
    params: one,
    payload: ShippingZoneChange,
    success: Data(ShippingZone)
  })
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Change a shipping zone; null empties a field" })),
  HttpApiEndpoint.delete("deleteZone", `${zones}/:id`, { params: one, success: Deleted })
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Delete a shipping zone; 409 while it has rates" })),
  HttpApiEndpoint.get("listRates", rates, {
    query: { ...pageQuery, zoneId: Schema.optional(Uuid), currency: Schema.optional(CurrencyCode) },
    success: Page(ShippingRate)
  })
    .annotateMerge(OpenApi.annotations({ summary: "List shipping rates, the cheapest first" })),
  HttpApiEndpoint.post("createRate", rates, {
    payload: NewShippingRate,
    success: Data(ShippingRate).pipe(HttpApiSchema.status(201))
  })
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Create a shipping rate; 404 for an unknown zone" })),
  HttpApiEndpoint.get("readRate", `${rates}/:id`, { params: one, success: Data(ShippingRate) })
    .annotateMerge(OpenApi.annotations({ summary: "Read a shipping rate" })),
  HttpApiEndpoint.patch("changeRate", `${rates}/:id`, {
    params: one,
    payload: ShippingRateChange,
    success: Data(ShippingRate)
  })
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Change a shipping rate; null empties a field" })),
  HttpApiEndpoint.delete("deleteRate", `${rates}/:id`, { params: one, success: Deleted })
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Delete a shipping rate; orders keep what they were shipped at" }))
)
  .annotateEndpoints(Access, manage)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)

/** What a shopper asks of shipping before the checkout (contract §3.4). */
export const ShippingQuotesGroup = HttpApiGroup.make("shippingQuotes").add(
  HttpApiEndpoint.post("quote", "/api/shipping/quotes", {
    payload: ShippingQuoteRequest,
    success: Data(ShippingQuote)
  })
    .annotate(Access, anyOf("cart:read", "cart:update"))
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(OpenApi.annotations({
      summary: "List the shipping rates that fit a cart and an address",
      description: "Nothing is kept. 422 CHECKOUT_FAILED for an address that is not shipped to."
    }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
