import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { ShippingQuote, ShippingQuoteRequest } from "../../domain/checkout/ShippingQuote.ts"
import { Data } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"
import { OpensWithCartSecret } from "../openapi/HeaderParameters.ts"

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
