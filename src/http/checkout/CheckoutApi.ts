import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { PriceChanged } from "../../domain/checkout/CartTotals.ts"
import { CheckoutAnswer, CheckoutRequest } from "../../domain/checkout/Checkout.ts"
import { Order } from "../../domain/orders/Order.ts"
import { PaymentCaptureFailed } from "../../domain/payments/PaymentAdapter.ts"
import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import { OrderId } from "../../domain/platform/ids/Id.ts"
import { guarded } from "../endpoint/Resource.ts"
import { Data, OptionalBody } from "../envelope/Envelope.ts"
import { OpensWithCartSecret, RouteRate } from "../middleware/Access.ts"
import { IdempotentChange, OwnIdempotency } from "../middleware/Idempotency.ts"

/**
 * Checkout (spec §4, contract §3). 422 CHECKOUT_FAILED leaves no order, authorization or reservation; the cart can be
 * checked out again.
 */
export const CheckoutGroup = guarded(
  "checkout",
  HttpApiEndpoint.post("checkout", "/api/checkout", {
    payload: CheckoutRequest,
    success: CheckoutAnswer.pipe(HttpApiSchema.status(201)),
    error: PriceChanged
  })
    .annotate(Access, anyOf("orders:create"))
    .annotate(RouteRate, "checkout")
    .annotate(OwnIdempotency, true)
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(OpenApi.annotations({ summary: "Turn a cart into a placed and paid order" }))
)

const CaptureRequest = Schema.Struct({
  amount: Schema.optional(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })).annotate({
      description: "Minor units. Default: everything that was authorized."
    })
  )
}).annotate({ identifier: "CaptureRequest" })

/** Captures of authorized payments (contract §4.4). */
export const CapturesGroup = guarded(
  "captures",
  HttpApiEndpoint.post("capture", "/api/orders/:id/capture", {
    params: { id: OrderId },
    payload: OptionalBody(CaptureRequest),
    success: Data(Order),
    error: PaymentCaptureFailed
  })
    .annotate(Access, anyOf("orders:update"))
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Take the money of an authorized order, the whole or a part, once",
      description: "409 for an order that is captured, ended or not authorized; 422 PAYMENT_CAPTURE_FAILED when the " +
        "provider refuses, which leaves the order as it was."
    }))
)
