import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf, signedIn } from "../../domain/access/AccessRule.ts"
import { LineChange, LineRequest, ManualOrderRequest, Quote, QuoteRequest } from "../../domain/checkout/Checkout.ts"
import { Fulfillment } from "../../domain/fulfillment/Fulfillment.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { CustomerNote, NewNote, Order, OrderHit, OrderNote, TimelineEntry } from "../../domain/orders/Order.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { keyText, Remark, ShortText } from "../../domain/text/Storable.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { BodyKey, Idempotency, IdempotentChange, NeverRepeated } from "../middleware/Idempotency.ts"
import { OpensWithCartSecret } from "../openapi/HeaderParameters.ts"

const StatusChange = Schema.Struct({
  status: ShortText.annotate({ description: "The status to move to; the table of transitions decides." }),
  reason: Schema.optional(Remark.annotate({ description: "Why; kept in the order's history." }))
}).annotate({ identifier: "StatusChange" })

const order = { id: Uuid }
const line = { id: Uuid, lineId: Uuid }
const reading = anyOf("orders:read")
/** Guests read their orders with the secret of their cart in `x-cart-secret`. */
const readingOwn = anyOf("orders:read", "orders:read:own")
const writing = anyOf("orders:update")

/** Reads orders and changes their status (spec §4, contract §4). */
export const OrdersGroup = HttpApiGroup.make("orders").add(
  HttpApiEndpoint.get("list", "/api/orders", {
    query: {
      ...pageQuery,
      status: Schema.optional(Schema.String.annotate({ description: "Only orders in this status." }))
    },
    success: Page(Order)
  })
    .annotate(Access, reading)
    .annotateMerge(OpenApi.annotations({ summary: "List orders with their lines, newest first" })),
  HttpApiEndpoint.get("read", "/api/orders/:idOrNumber", {
    params: { idOrNumber: Schema.String },
    success: Data(Order)
  })
    .annotate(Access, readingOwn)
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(OpenApi.annotations({ summary: "Read an order by its id or its number" })),
  HttpApiEndpoint.patch("changeStatus", "/api/orders/:id/status", {
    params: order,
    payload: StatusChange,
    success: Data(Order)
  })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Change the status of an order",
      description: "Cancelling gives stock and money back; 422 INVALID_TRANSITION for a change the order cannot make."
    })),
  HttpApiEndpoint.get("fulfillments", "/api/orders/:id/fulfillments", {
    params: order,
    query: pageQuery,
    success: Page(Fulfillment)
  })
    .annotate(Access, readingOwn)
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(OpenApi.annotations({ summary: "List what of an order has been handed over" }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)

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
    params: order,
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

/** What staff finds out and notes about orders (contract §4.4; docs/orders.md). */
export const OrderRecordsGroup = HttpApiGroup.make("orderRecords").add(
  HttpApiEndpoint.get("lookup", "/api/orders/lookup", {
    query: {
      q: keyText(255).check(Schema.isPattern(/^\s*\S.+\S\s*$/)).annotate({
        description: "An order's number or the digits of its end; the beginning of an e-mail address or of a name."
      })
    },
    success: Page(OrderHit)
  })
    .annotate(Access, reading)
    .annotateMerge(OpenApi.annotations({ summary: "Find orders by number, e-mail or name; at most 50, newest first" })),
  HttpApiEndpoint.get("timeline", "/api/orders/:id/timeline", {
    params: order,
    query: pageQuery,
    success: Page(TimelineEntry)
  })
    .annotate(Access, reading)
    .annotateMerge(OpenApi.annotations({ summary: "Everything that happened to an order, oldest first" })),
  HttpApiEndpoint.get("notes", "/api/orders/:id/notes", {
    params: order,
    query: pageQuery,
    success: Page(OrderNote)
  })
    .annotate(Access, reading)
    .annotateMerge(OpenApi.annotations({ summary: "List the notes of an order, oldest first" })),
  HttpApiEndpoint.post("addNote", "/api/orders/:id/notes", {
    params: order,
    payload: NewNote,
    success: Data(OrderNote).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(
      OpenApi.annotations({ summary: "Note something about an order, for staff or for its customer too" })
    ),
  HttpApiEndpoint.delete("removeNote", "/api/orders/:id/notes/:noteId", {
    params: { id: Uuid, noteId: Uuid },
    success: Deleted
  })
    .annotate(Access, writing)
    .annotate(IdempotentChange, true)
    .annotateMerge(OpenApi.annotations({ summary: "Delete a note" })),
  HttpApiEndpoint.get("myNotes", "/api/me/orders/:idOrNumber/notes", {
    params: { idOrNumber: Schema.String },
    query: pageQuery,
    success: Page(CustomerNote)
  })
    .annotate(Access, signedIn())
    .annotateMerge(OpenApi.annotations({ summary: "Read what the store noted for me about my order" }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
