import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { ShippingQuote, ShippingQuoteRequest } from "../../domain/checkout/Checkout.ts"
import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import { ShippingZoneId } from "../../domain/platform/ids/Id.ts"
import { CurrencyCode } from "../../domain/platform/money/Money.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import { NewShippingRate, ShippingRate, ShippingRateChange } from "../../domain/shipping/ShippingRate.ts"
import { NewShippingZone, ShippingZone, ShippingZoneChange } from "../../domain/shipping/ShippingZone.ts"
import { changes, creates, guarded, lists, reads, removes, summary } from "../endpoint/Resource.ts"
import { Data, Page } from "../envelope/Envelope.ts"
import { OpensWithCartSecret } from "../middleware/Access.ts"
import { StrictBody } from "../middleware/FieldHandling.ts"

const zones = "/api/shipping/zones"
const rates = "/api/shipping/rates"

/** Shipping zones and rates (contract §3.4, §3.8). Minor units, grams. */
export const ShippingGroup = guarded(
  "shipping",
  lists("listZones", zones, ShippingZone, "List shipping zones in the order in which they are tried"),
  creates(
    "createZone",
    zones,
    NewShippingZone,
    ShippingZone,
    "Create a shipping zone",
    "From the first active zone on, addresses that no zone serves are refused. 409 for a taken name."
  ),
  reads("readZone", `${zones}/:id`, ShippingZone, "Get a shipping zone"),
  changes(
    "changeZone",
    `${zones}/:id`,
    ShippingZoneChange,
    ShippingZone,
    "Change a shipping zone; null empties a field"
  ),
  removes("deleteZone", `${zones}/:id`, "Delete a shipping zone; 409 while it has rates"),
  HttpApiEndpoint.get("listRates", rates, {
    query: { ...pageQuery, zoneId: Schema.optional(ShippingZoneId), currency: Schema.optional(CurrencyCode) },
    success: Page(ShippingRate)
  }).annotateMerge(summary("List shipping rates, the cheapest first")),
  creates("createRate", rates, NewShippingRate, ShippingRate, "Create a shipping rate; 404 for an unknown zone"),
  reads("readRate", `${rates}/:id`, ShippingRate, "Get a shipping rate"),
  changes(
    "changeRate",
    `${rates}/:id`,
    ShippingRateChange,
    ShippingRate,
    "Change a shipping rate; null empties a field"
  ),
  removes("deleteRate", `${rates}/:id`, "Delete a shipping rate; orders keep what they were shipped at")
).annotateEndpoints(Access, anyOf("shipping:manage")).annotateEndpoints(StrictBody, true)

/** Shipping before the checkout (contract §3.4). */
export const ShippingQuotesGroup = guarded(
  "shippingQuotes",
  HttpApiEndpoint.post("quote", "/api/shipping/quotes", {
    payload: ShippingQuoteRequest,
    success: Data(ShippingQuote)
  })
    .annotate(Access, anyOf("cart:read", "cart:update"))
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(summary(
      "List the shipping rates that fit a cart and an address",
      "Nothing is kept. 422 CHECKOUT_FAILED for an address that is not shipped to."
    ))
)
