import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { CheckoutAnswer, CheckoutRequest } from "../../domain/checkout/Checkout.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, OwnIdempotency } from "../middleware/Idempotency.ts"
import { OpensWithCartSecret } from "../openapi/HeaderParameters.ts"
import { RouteRate } from "../server/RouteRate.ts"

/**
 * Checkout (spec §4, contract §3). 422 CHECKOUT_FAILED when any step fails; then no order, authorization or reservation
 * remains, and the cart can be checked out again.
 */
export const CheckoutGroup = HttpApiGroup.make("checkout").add(
  HttpApiEndpoint.post("checkout", "/api/checkout", {
    payload: CheckoutRequest,
    success: CheckoutAnswer.pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("orders:create"))
    .annotate(RouteRate, "checkout")
    .annotate(OwnIdempotency, true)
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(OpenApi.annotations({ summary: "Turn a cart into a placed and paid order" }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
