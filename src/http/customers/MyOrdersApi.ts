import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, signedIn } from "../../domain/access/AccessRule.ts"
import { Reorder } from "../../domain/carts/Reorder.ts"
import { Download } from "../../domain/fulfillment/Download.ts"
import { Tracking } from "../../domain/fulfillment/Tracking.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { Order } from "../../domain/orders/Order.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { Data, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"

const named = { idOrNumber: Schema.String }
const order = { orderId: Uuid }

/** The orders of a signed-in person (spec §4 `/me/orders`, contract, platform §7). */
export const MyOrdersGroup = HttpApiGroup.make("myOrders").add(
  HttpApiEndpoint.get("list", "/api/me/orders", {
    query: {
      ...pageQuery,
      status: Schema.optional(Schema.String.annotate({ description: "Only orders in this status." }))
    },
    success: Page(Order)
  })
    .annotate(Access, signedIn())
    .annotateMerge(OpenApi.annotations({ summary: "List the caller's orders with their lines, newest first" })),
  HttpApiEndpoint.get("read", "/api/me/orders/:idOrNumber", { params: named, success: Data(Order) })
    .annotate(Access, signedIn())
    .annotateMerge(OpenApi.annotations({ summary: "Read an order of the caller by its id or its number" })),
  HttpApiEndpoint.get("tracking", "/api/me/orders/:idOrNumber/tracking", {
    params: named,
    query: pageQuery,
    success: Page(Tracking)
  })
    .annotate(Access, signedIn())
    .annotateMerge(OpenApi.annotations({ summary: "Track the shipments of an order" })),
  HttpApiEndpoint.get("downloads", "/api/me/orders/:orderId/downloads", {
    params: order,
    query: pageQuery,
    success: Page(Download)
  })
    .annotate(Access, signedIn())
    .annotateMerge(OpenApi.annotations({ summary: "List links to the files of an order; each download counts" })),
  HttpApiEndpoint.post("reorder", "/api/me/orders/:orderId/reorder", {
    params: order,
    success: Data(Reorder).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, signedIn())
    .annotateMerge(OpenApi.annotations({
      summary: "Fill a new cart with the items of an order",
      description: "At current prices. Items that cannot be sold any more are named with the reason."
    }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
