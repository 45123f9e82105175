import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { PriceChanged } from "../../domain/checkout/CartTotals.ts"
import { CheckoutAnswer, CheckoutRequest, OrderPaymentRequest } from "../../domain/checkout/Checkout.ts"
import { Order } from "../../domain/orders/Order.ts"
import { PaymentCaptureFailed } from "../../domain/payments/PaymentAdapter.ts"
import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import { OrderId } from "../../domain/platform/ids/Id.ts"
import { MinorUnits } from "../../domain/platform/money/Money.ts"
import { guarded, summary } from "../endpoint/Resource.ts"
import { Data, OptionalBody } from "../envelope/Envelope.ts"
import { OpensWithCartSecret, RouteRate } from "../middleware/Access.ts"
import { StrictBody } from "../middleware/FieldHandling.ts"
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
    .annotateMerge(OpenApi.annotations({ summary: "Check out a cart: place and pay an order" }))
)

const CaptureRequest = Schema.Struct({
  amount: Schema.optional(
    MinorUnits.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })).annotate({
      description: "Minor units. Default: everything that was authorized."
    })
  )
}).annotate({ identifier: "CaptureRequest" })

const anOrder = { params: { id: OrderId }, success: Data(Order) }

/** Unpaid orders and their holders (contract-commerce §10). */
export const OrderPaymentsGroup = guarded(
  "orderPayments",
  HttpApiEndpoint.post("pay", "/api/orders/:id/payments", { ...anOrder, payload: OrderPaymentRequest })
    .annotate(RouteRate, "checkout")
    .annotateMerge(
      summary(
        "Pay an unpaid order another way",
        "The earlier payment is voided first. 409 when the order is paid, ended, split into several payments, or " +
          "being paid; 422 when the payment is refused, after which the order still waits to be paid, or when it " +
          "cannot be captured, after which the order is cancelled; 429 after five attempts in a minute."
      )
    ),
  HttpApiEndpoint.post("cancel", "/api/orders/:id/cancel", anOrder)
    .annotateMerge(
      summary(
        "Cancel an unpaid order of one's own",
        "Its payment is voided, and stock and promotion codes come back. 409 when it is paid, authorized or ended."
      )
    )
)
  .annotateEndpoints(Access, anyOf("orders:read:own", "orders:update"))
  .annotateEndpoints(IdempotentChange, true)
  .annotateEndpoints(OpensWithCartSecret, true)

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
    .annotate(StrictBody, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Capture the payment of an authorized order, all or a part, once",
      description: "409 for an order that is captured, ended or not authorized; 422 PAYMENT_CAPTURE_FAILED when the " +
        "provider refuses, which leaves the order as it was."
    }))
)
