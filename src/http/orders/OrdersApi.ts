import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { LineChange, LineRequest, ManualOrderRequest, Quote, QuoteRequest } from "../../domain/checkout/Checkout.ts"
import { Fulfillment, NewShipment, ShipmentChange } from "../../domain/fulfillment/Fulfillment.ts"
import { InvoiceMail, SentInvoice } from "../../domain/mail/Mail.ts"
import { Order, OrderHit } from "../../domain/orders/Order.ts"
import { CustomerNote, NewNote, OrderNote, TimelineEntry } from "../../domain/orders/OrderHistory.ts"
import { Access, anyOf, open, signedIn } from "../../domain/platform/access/AccessRule.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import { keyText, Remark, ShortText } from "../../domain/platform/text/Storable.ts"
import { changes, creates, guarded, lists, paramsOf, removes, summary } from "../endpoint/Resource.ts"
import { Data, OptionalBody, Page } from "../envelope/Envelope.ts"
import { AccessControl, OpensWithCartSecret } from "../middleware/Access.ts"
import { Errors } from "../middleware/Errors.ts"
import { BodyKey, IdempotentChange, NeverRepeated } from "../middleware/Idempotency.ts"

const StatusChange = Schema.Struct({
  status: ShortText.annotate({ description: "The status to move to; the table of transitions decides." }),
  reason: Schema.optional(Remark.annotate({ description: "Why; kept in the order's history." }))
}).annotate({ identifier: "StatusChange" })

const reading = anyOf("orders:read")
/** Guests use the cart's secret in `x-cart-secret`. */
const readingOwn = anyOf("orders:read", "orders:read:own")
const writing = anyOf("orders:update")
const named = { idOrNumber: Schema.String }
const order = "/api/orders/:id"

/** Orders and their status (spec §4, contract §4). */
export const OrdersGroup = guarded(
  "orders",
  HttpApiEndpoint.get("list", "/api/orders", {
    query: {
      ...pageQuery,
      status: Schema.optional(Schema.String.annotate({ description: "Only orders in this status." }))
    },
    success: Page(Order)
  })
    .annotate(Access, reading)
    .annotateMerge(summary("List orders with their lines, newest first")),
  HttpApiEndpoint.get("read", "/api/orders/:idOrNumber", { params: named, success: Data(Order) })
    .annotate(Access, readingOwn)
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(summary("Get an order by its id or its number")),
  changes(
    "changeStatus",
    `${order}/status`,
    StatusChange,
    Order,
    "Change the status of an order",
    "Cancelling gives stock and money back; 422 INVALID_TRANSITION for a change the order cannot make."
  ).annotate(Access, writing),
  lists("fulfillments", `${order}/fulfillments`, Fulfillment, "List what of an order has been handed over")
    .annotate(Access, readingOwn)
    .annotate(OpensWithCartSecret, true)
)

/** Written orders and their lines before payment (contract §3.8, §4.4; docs/orders.md). */
export const AdminOrdersGroup = guarded(
  "orderDesk",
  HttpApiEndpoint.post("quote", "/api/orders/quote", { payload: QuoteRequest, success: Data(Quote) })
    .annotate(Access, anyOf("orders:manage"))
    // The same request is priced again.
    .annotate(NeverRepeated, true)
    .annotateMerge(summary(
      "Calculate the prices of lines or a cart as a checkout would, to the unit",
      "Nothing is stored and no stock is held or looked at."
    )),
  HttpApiEndpoint.post("create", "/api/orders", {
    payload: ManualOrderRequest,
    success: Data(Order).pipe(HttpApiSchema.status(201))
  })
    .annotate(Access, anyOf("orders:create"))
    .annotate(IdempotentChange, true)
    .annotate(BodyKey, true)
    .annotateMerge(summary(
      "Create an unpaid order",
      "Prices come from the catalog; only orders:manage sets prices and discounts. Stock is held. Totals " +
        "in the body are not read. 422 CHECKOUT_FAILED where a checkout would fail."
    )),
  creates(
    "addLine",
    `${order}/line-items`,
    LineRequest,
    Order,
    "Add a line to an unpaid order; the same item adds to its line",
    "Totals are recalculated. 409 once the order has left pending or its payment was begun."
  ).annotate(Access, writing),
  changes("changeLine", `${order}/line-items/:lineId`, LineChange, Order, "Change a line of an unpaid order")
    .annotate(Access, writing),
  removes("removeLine", `${order}/line-items/:lineId`, "Remove a line from an unpaid order; the last one stays")
    .annotate(Access, writing)
)

/** Look-up and notes for staff (contract §4.4; docs/orders.md). */
export const OrderRecordsGroup = guarded(
  "orderRecords",
  HttpApiEndpoint.get("lookup", "/api/orders/lookup", {
    query: {
      q: keyText(255).check(Schema.isPattern(/^\s*\S.+\S\s*$/, { expected: "a text of at least 3 characters" }))
        .annotate({
          description: "An order's number or the digits of its end; the beginning of an e-mail address or of a name."
        })
    },
    success: Page(OrderHit)
  })
    .annotate(Access, reading)
    .annotateMerge(summary("Find orders by number, e-mail or name; at most 50, newest first")),
  lists("timeline", `${order}/timeline`, TimelineEntry, "List all that happened to an order, oldest first")
    .annotate(Access, reading),
  lists("notes", `${order}/notes`, OrderNote, "List the notes of an order, oldest first").annotate(Access, reading),
  creates(
    "addNote",
    `${order}/notes`,
    NewNote,
    OrderNote,
    "Add a note to an order, for staff or for its customer too"
  ).annotate(Access, writing),
  removes("removeNote", `${order}/notes/:noteId`, "Delete a note").annotate(Access, writing),
  HttpApiEndpoint.get("myNotes", "/api/me/orders/:idOrNumber/notes", {
    params: named,
    query: pageQuery,
    success: Page(CustomerNote)
  })
    .annotate(Access, signedIn())
    .annotateMerge(summary("List the notes of the store about an order of the caller"))
)

/** Manual shipments (contract §5). */
export const FulfillmentsGroup = guarded(
  "fulfillments",
  creates(
    "create",
    `${order}/fulfillments`,
    NewShipment,
    Fulfillment,
    "Create a fulfillment of units of an order",
    "Moves the order to partially_fulfilled, and to fulfilled as soon as fulfillments cover every line. " +
      "422 for more units than are left, and for an order that is pending, not paid or ended."
  ),
  changes(
    "change",
    `${order}/fulfillments/:fulfillmentId`,
    ShipmentChange,
    Fulfillment,
    "Change status and tracking of a fulfillment",
    "A cancelled fulfillment gives its units back, to the order and to stock."
  )
).annotateEndpoints(Access, writing)

/** Signed links of bought files (docs/customers.md). The signature is the credential. */
export const DownloadsGroup = HttpApiGroup.make("downloads").add(
  HttpApiEndpoint.get("follow", "/api/downloads/:id", {
    params: { id: Schema.String },
    query: { expires: Schema.optional(Schema.String), signature: Schema.optional(Schema.String) },
    success: HttpApiSchema.Empty(302)
  })
    .annotate(Access, open)
    .annotateMerge(summary(
      "Download a bought file by its signed link",
      "Redirects to the file and counts a download. 404 for a link that was not signed, 403 for one that " +
        "is too old or used up."
    ))
)
  .middleware(Errors).middleware(AccessControl)

const Html = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html" }))
const Pdf = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/pdf" }))

/** Invoices and receipts, for readers of the order (contract §4.4). */
export const InvoicesGroup = guarded(
  "invoices",
  HttpApiEndpoint.get("pdf", `${order}/invoice.pdf`, { params: paramsOf(order), success: Pdf })
    .annotate(Access, readingOwn)
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(
      summary(
        "Download the invoice of an order as PDF",
        "Issued when it is first asked for; 409 before the order is confirmed or paid."
      )
    ),
  HttpApiEndpoint.get("html", `${order}/invoice.html`, { params: paramsOf(order), success: Html })
    .annotate(Access, readingOwn)
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(summary("Get the invoice of an order as a page to print")),
  HttpApiEndpoint.get("receipt", `${order}/receipt.html`, { params: paramsOf(order), success: Html })
    .annotate(Access, readingOwn)
    .annotate(OpensWithCartSecret, true)
    .annotateMerge(summary("Get the receipt of an order as a page to print", "409 before anything was paid.")),
  HttpApiEndpoint.post("email", `${order}/invoice/email`, {
    params: paramsOf(order),
    payload: OptionalBody(InvoiceMail),
    success: Data(SentInvoice)
  })
    .annotate(Access, writing)
    .annotateMerge(
      summary(
        "Mail the invoice of an order",
        "To the address of the order, or another one. `queued` is false where no such mails are sent; 422 without address."
      )
    )
)
