import { Schema } from "effect"
import { Time } from "../pricing/Bounds.ts"

/** Kind of an event in an order's timeline. */
export const TimelineKind = Schema.Literals([
  "status",
  "change",
  "payment",
  "event",
  "refund",
  "fulfillment",
  "mail",
  "note"
])

/**
 * An event in an order's timeline (docs/orders.md has the list). `type` is the new status, the change's name in the
 * change log, `authorized` or `captured`, a payment provider's event name, `pending`, `settled`, `failed` or `voided`,
 * a fulfillment step, a mail template, or a note's visibility. Amounts in `data` are in minor units; `actorId` is null
 * for the service itself.
 */
export const TimelineEntry = Schema.Struct({
  id: Schema.String,
  kind: TimelineKind,
  type: Schema.String,
  at: Time,
  actorId: Schema.NullOr(Schema.String),
  data: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "OrderTimelineEntry" })
export type TimelineEntry = typeof TimelineEntry.Type
