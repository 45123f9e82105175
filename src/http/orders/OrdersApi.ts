import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { Fulfillment } from "../../domain/fulfillment/Fulfillment.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { Order } from "../../domain/orders/Order.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { Remark, ShortText } from "../../domain/text/Storable.ts"
import { Data, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"
import { OpensWithCartSecret } from "../openapi/HeaderParameters.ts"

const StatusChange = Schema.Struct({
  status: ShortText.annotate({ description: "The status to move to; the table of transitions decides." }),
  reason: Schema.optional(Remark.annotate({ description: "Why; kept in the order's history." }))
}).annotate({ identifier: "StatusChange" })

/** Reading one order: any, or the caller's; a guest shows the secret of its cart in `x-cart-secret`. */
const reading = anyOf("orders:read", "orders:read:own")

/** Orders after their creation (spec §4, contract §4). */
export const OrdersGroup = HttpApiGroup.make("orders").add(
  HttpApiEndpoint.get("list", "/api/orders", {
    query: {
      ...pageQuery,
      status: Schema.optional(Schema.String.annotate({ description: "Only orders in this status." }))
    },
    success: Page(Order)
  })
    .annotate(Access, anyOf("orders:read"))
    .annotateMerge(OpenApi.annotations({ summary: "List orders with their lines, newest first" })),
  HttpApiEndpoint.get("read", "/api/orders/:idOrNumber", {
    params: { idOrNumber: Schema.String },
    success: Data(Order)
  })
    .annotate(Access, reading)
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(OpenApi.annotations({ summary: "Read an order by its id or its number" })),
  HttpApiEndpoint.patch("changeStatus", "/api/orders/:id/status", {
    params: { id: Uuid },
    payload: StatusChange,
    success: Data(Order)
  })
    .annotate(Access, anyOf("orders:update"))
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Change the status of an order",
      description: "Cancelling gives stock and money back; 422 INVALID_TRANSITION for a change the order cannot make."
    })),
  HttpApiEndpoint.get("fulfillments", "/api/orders/:id/fulfillments", {
    params: { id: Uuid },
    query: pageQuery,
    success: Page(Fulfillment)
  })
    .annotate(Access, reading)
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(OpenApi.annotations({ summary: "List what of an order has been handed over" }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
