import { Schema } from "effect"
import { Time } from "../pricing/Bounds.ts"

/** What kind of thing happened to an order. */
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
 * Something that happened to an order (docs/orders.md has the list). `type` says what: the new status, the name of the
 * change in the change log, `authorized` or `captured`, an event of the payment provider by its name, `pending`, `settled`,
 * `failed` or `voided`, a fulfillment's step, a mail's template, a note's visibility. `data` says more, amounts in minor units; `actorId` is null where the service itself did it.
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
