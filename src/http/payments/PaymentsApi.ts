import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { CompensationFailure, CompensationStatus, Resolution } from "../../domain/payments/CompensationFailure.ts"
import {
  WebhookSecretMissing,
  WebhookSignatureMissing,
  WebhookVerificationFailed
} from "../../domain/payments/PaymentAdapter.ts"
import { AmountRefund, RefundCap, RefundRecord, RefundRequest } from "../../domain/payments/Refund.ts"
import { Access, anyOf, open, Storeless } from "../../domain/platform/access/AccessRule.ts"
import { CompensationFailureId, OrderId, RefundId } from "../../domain/platform/ids/Id.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import { guarded, summary } from "../endpoint/Resource.ts"
import { Data, OptionalBody, Page } from "../envelope/Envelope.ts"
import { RouteRate } from "../middleware/Access.ts"
import { ForeignBody, StrictBody } from "../middleware/FieldHandling.ts"
import { IdempotentChange } from "../middleware/Idempotency.ts"

/** `duplicate`: the event was handled before. */
const Received = Schema.Struct({
  received: Schema.Literal(true),
  duplicate: Schema.optionalKey(Schema.Literal(true))
})

/** Provider events (spec §4, contract §11). The signature over the raw body is the credential. */
export const PaymentsGroup = guarded(
  "payments",
  HttpApiEndpoint.post("webhook", "/api/payments/webhook", {
    success: Data(Received),
    error: [WebhookSignatureMissing, WebhookVerificationFailed, WebhookSecretMissing]
  })
    .annotate(Access, open)
    .annotate(Storeless, true)
    .annotate(ForeignBody, true)
    .annotate(RouteRate, "none")
    .annotateMerge(
      summary(
        "Receive an event of the payment provider",
        "The body is the provider's, as it signed it. A repeated event is answered and not worked on again."
      )
    )
)

const created = Data(RefundRecord).annotate({ httpApiStatus: 201 })

/** Refunds and returns (contract §4.3, §4.4). */
export const RefundsGroup = guarded(
  "refunds",
  HttpApiEndpoint.get("cap", "/api/orders/refunds/cap", { query: { orderId: OrderId }, success: Data(RefundCap) })
    .annotate(Access, anyOf("orders:read"))
    .annotateMerge(
      summary(
        "Get the amount of an order that can still be refunded",
        "In all, of the shipping and of each line, in minor units."
      )
    ),
  HttpApiEndpoint.post("refundAmount", "/api/orders/:id/refund", {
    params: { id: OrderId },
    payload: OptionalBody(AmountRefund),
    success: created
  })
    .annotate(Access, anyOf("orders:update"))
    .annotate(IdempotentChange, true)
    .annotate(StrictBody, true)
    .annotateMerge(
      summary(
        "Refund an amount, or everything that is left",
        "422 for more than is left, 409 when nothing is. The refund is pending where its provider takes long."
      )
    ),
  HttpApiEndpoint.post("refund", "/api/orders/:id/refunds", {
    params: { id: OrderId },
    payload: RefundRequest,
    success: created
  })
    .annotate(Access, anyOf("orders:update"))
    .annotate(IdempotentChange, true)
    .annotate(StrictBody, true)
    .annotateMerge(
      summary(
        "Refund units of lines, shipping or an amount",
        "Units that were never handed over come first and are released; of the others those with `restock` " +
          "go back into the warehouses they came from."
      )
    ),
  HttpApiEndpoint.get("list", "/api/orders/:id/refunds", {
    params: { id: OrderId },
    query: pageQuery,
    success: Page(RefundRecord)
  })
    .annotate(Access, anyOf("orders:read"))
    .annotateMerge(summary("List the refunds of an order, the last one first")),
  HttpApiEndpoint.post("undo", "/api/orders/:id/refunds/:rid/undo", {
    params: { id: OrderId, rid: RefundId },
    success: Data(RefundRecord)
  })
    .annotate(Access, anyOf("orders:update"))
    .annotate(IdempotentChange, true)
    .annotateMerge(
      summary(
        "Undo a refund that its provider has not heard of",
        "409 when the provider was asked or has refunded the money: it cannot be taken back from the shopper."
      )
    )
)

const failure = { params: { id: CompensationFailureId }, success: Data(CompensationFailure) }

/** Payment steps that failed for good (contract §3.8). */
export const CompensationsGroup = guarded(
  "compensations",
  HttpApiEndpoint.get("list", "/api/admin/compensation-failures", {
    query: { ...pageQuery, status: Schema.optional(CompensationStatus) },
    success: Page(CompensationFailure)
  })
    .annotateMerge(summary("List money steps that failed for good, the last one first")),
  HttpApiEndpoint.post("resolve", "/api/admin/compensation-failures/:id/resolve", {
    ...failure,
    payload: OptionalBody(Resolution)
  })
    .annotate(IdempotentChange, true)
    .annotateMerge(summary("Record that a failure was settled elsewhere", "Moves no money. 409 when it is not open.")),
  HttpApiEndpoint.post("retry", "/api/admin/compensation-failures/:id/retry", failure)
    .annotate(IdempotentChange, true)
    .annotateMerge(
      summary(
        "Retry a failed refund",
        "409 when it is not open, is no refund, or was given back otherwise meanwhile."
      )
    )
).annotateEndpoints(Access, anyOf("compensation:admin"))
