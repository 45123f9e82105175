import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { Time } from "../pricing/Bounds.ts"
import { keyText } from "../text/Storable.ts"

/** Readers of a note: staff only, or the order's customer as well. */
export const NoteVisibility = Schema.Literals(["internal", "customer"])
export type NoteVisibility = typeof NoteVisibility.Type

/** What staff notes about an order (contract §4.4). `authorId` is the login that wrote it. */
export const OrderNote = Schema.Struct({
  id: Uuid,
  organizationId: Schema.String,
  orderId: Uuid,
  text: Schema.String,
  visibility: NoteVisibility,
  authorId: Schema.NullOr(Schema.String),
  authorName: Schema.String,
  createdAt: Time
}).annotate({ identifier: "OrderNote" })
export type OrderNote = typeof OrderNote.Type

/** A note for the order's customer, without its author. */
export const CustomerNote = Schema.Struct({ id: Uuid, text: Schema.String, createdAt: Time }).annotate({
  identifier: "CustomerOrderNote"
})
export type CustomerNote = typeof CustomerNote.Type

/** Body of a new note. */
export const NewNote = Schema.Struct({
  text: keyText(10_000),
  visibility: Schema.optional(NoteVisibility.annotate({ description: "Default internal." }))
}).annotate({ identifier: "NewOrderNote" })
export type NewNote = typeof NewNote.Type
