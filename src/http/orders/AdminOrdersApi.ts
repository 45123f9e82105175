import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { LineChange, LineRequest, ManualOrderRequest, Quote, QuoteRequest } from "../../domain/checkout/Checkout.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { Order } from "../../domain/orders/Order.ts"
import { Data, Deleted } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { BodyKey, Idempotency, IdempotentChange, NeverRepeated } from "../middleware/Idempotency.ts"

const line = { id: Uuid, lineId: Uuid }
const writing = anyOf("orders:update")

/** Orders that are written instead of checked out, and their lines before payment (contract §3.8, §4.4; docs/orders.md). */
export const AdminOrdersGroup = HttpApiGroup.make("orderDesk").add(
  HttpApiEndpoint.post("quote", "/api/orders/quote", { payload: QuoteRequest, success: Data(Quote) })
    .annotate(Access, anyOf("orders:manage"))
    // It changes nothing: the same request is priced again.
    .annotate(NeverRepeated, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Price lines or a cart as a checkout would, to the unit",
      description: "Nothing is stored and no stock is held or looked at."
    })),
  HttpApiEndpoint.post("create", "/api/orders", {
    payload: ManualOrderRequest,
    success: Data(Order).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("orders:create"))
    .annotate(IdempotentChange, true)
    .annotate(BodyKey, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Write an unpaid order",
      description:
        "Prices come from the catalog; only orders:manage sets prices and discounts. Stock is held. Totals " +
        "in the body are not read. 422 CHECKOUT_FAILED where a checkout would fail."
    })),
  HttpApiEndpoint.post("addLine", "/api/orders/:id/line-items", {
    params: { id: Uuid },
    payload: LineRequest,
    success: Data(Order).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Put a line into an unpaid order; the same thing adds to its line",
      description: "Totals are recalculated. 409 once the order has left pending or its payment was begun."
    })),
  HttpApiEndpoint.patch("changeLine", "/api/orders/:id/line-items/:lineId", {
    params: line,
    payload: LineChange,
    success: Data(Order)
  })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Change a line of an unpaid order" })),
  HttpApiEndpoint.delete("removeLine", "/api/orders/:id/line-items/:lineId", { params: line, success: Deleted })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Take a line out of an unpaid order; the last one stays" }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
