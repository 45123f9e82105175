import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anyOf, signedIn } from "../../domain/access/AccessRule.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { CustomerNote, NewNote, OrderHit, OrderNote, TimelineEntry } from "../../domain/orders/Order.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { keyText } from "../../domain/text/Storable.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency, IdempotentChange } from "../middleware/Idempotency.ts"

const order = { id: Uuid }
const reading = anyOf("orders:read")
const writing = anyOf("orders:update")

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
