import { Schema } from "effect"
import { notFound } from "../platform/errors/ErrorKinds.ts"
import { about } from "../platform/hints/Hints.ts"
import { OrderId, OrderNoteId, OrganizationId } from "../platform/ids/Id.ts"
import { keyText } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"

export const NoteVisibility = Schema.Literals(["internal", "customer"]).annotate({
  description: "internal: only staff sees it. customer: the buyer sees it too."
})
export type NoteVisibility = typeof NoteVisibility.Type

/** A staff note about an order (contract §4.4). `authorId` is a login. */
export const OrderNote = Schema.Struct({
  id: OrderNoteId,
  organizationId: OrganizationId,
  orderId: OrderId,
  text: Schema.String,
  visibility: NoteVisibility,
  authorId: Schema.NullOr(Schema.String),
  authorName: Schema.String,
  createdAt: Time
}).annotate({ identifier: "OrderNote" })
export type OrderNote = typeof OrderNote.Type

export class NoteNotFound extends notFound("OrderNote", "Note not found.") {}

export const CustomerNote = Schema.Struct({ id: OrderNoteId, text: Schema.String, createdAt: Time }).annotate({
  identifier: "CustomerOrderNote"
})
export type CustomerNote = typeof CustomerNote.Type

export const NewNote = Schema.Struct({
  text: keyText(10_000),
  visibility: Schema.optional(
    NoteVisibility.annotate({
      description: "internal, the default: only staff sees it. customer: the buyer sees it too."
    })
  )
}).annotate({ identifier: "NewOrderNote" })
export type NewNote = typeof NewNote.Type

export const TimelineKind = Schema.Literals([
  "status",
  "change",
  "payment",
  "event",
  "refund",
  "fulfillment",
  "mail",
  "note",
  "return"
]).annotate({
  description:
    "Group of the entry, for filters. change: an edit of the order. event: an event of a payment provider or plugin."
})

/**
 * An event in an order's timeline (docs/orders.md lists the types). Amounts in `data` are in minor units; `actorId` is
 * null for the service itself.
 */
export const TimelineEntry = Schema.Struct({
  id: Schema.String,
  kind: TimelineKind,
  type: Schema.String.pipe(about("Name of the change, such as orders.refund; docs/orders.md lists them.")),
  at: Time,
  actorId: Schema.NullOr(Schema.String),
  data: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "OrderTimelineEntry" })
export type TimelineEntry = typeof TimelineEntry.Type
