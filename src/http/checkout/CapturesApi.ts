import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { Order } from "../../domain/orders/Order.ts"
import { PaymentCaptureFailed } from "../../domain/payments/PaymentErrors.ts"
import { Data, OptionalBody } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"

const CaptureRequest = Schema.Struct({
  amount: Schema.optional(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })).annotate({
      description: "Minor units. Default: everything that was authorized."
    })
  )
}).annotate({ identifier: "CaptureRequest" })

/** Captures payments that the checkout only authorized (contract §4.4). */
export const CapturesGroup = HttpApiGroup.make("captures").add(
  HttpApiEndpoint.post("capture", "/api/orders/:id/capture", {
    params: { id: Uuid },
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
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
