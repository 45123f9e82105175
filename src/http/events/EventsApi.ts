import { Schema, SchemaGetter } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anyOf } from "../../domain/access/AccessRule.ts"
import { eventTypes } from "../../domain/events/Event.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"

/** Name of an event: one of the core, or one that a plugin declares. */
const EventName = Schema.Union([Schema.Literals(eventTypes), Schema.String])

/** An event as the API shows it (docs/events.md). `data` is the record after the change, without secrets. */
export const StoreEvent = Schema.Struct({
  id: Uuid,
  sequence: Schema.Int.annotate({ description: "Place among the organization's events: from 1, without gaps." }),
  type: EventName,
  timestamp: Schema.Date.annotate({ format: "date-time" }),
  entityType: Schema.String,
  entityId: Schema.String,
  data: Schema.Record(Schema.String, Schema.Unknown),
  actorId: Schema.NullOr(Schema.String),
  requestId: Schema.NullOr(Schema.String)
}).annotate({ identifier: "StoreEvent" })
export type StoreEvent = typeof StoreEvent.Type

/** Events after a cursor, and the cursor to go on with. */
export interface EventPage {
  readonly events: ReadonlyArray<StoreEvent>
  readonly next: number
}

const Events = Schema.Struct({
  data: Schema.Array(StoreEvent),
  meta: Schema.Struct({ next: Schema.Int.annotate({ description: "The cursor to go on with, as `after`." }) })
}).pipe(
  Schema.decodeTo(Schema.Struct({ events: Schema.Array(Schema.toType(StoreEvent)), next: Schema.Int }), {
    decode: SchemaGetter.transform(({ data, meta }): EventPage => ({ events: data, next: meta.next })),
    encode: SchemaGetter.transform(({ events, next }: EventPage) => ({ data: [...events], meta: { next } }))
  })
)

/** A place in the stream as text: a whole number from 0. */
export const EventCursor = Schema.NumberFromString.check(
  Schema.isInt(),
  Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
)

/** The stream of the events that webhooks deliver (spec §6). */
export const EventsGroup = HttpApiGroup.make("events").add(
  HttpApiEndpoint.get("list", "/api/events", {
    query: {
      after: Schema.optional(EventCursor.annotate({ description: "Sequence to start behind. Default 0." })),
      type: Schema.optional(EventName.annotate({ description: "Only events of this type." })),
      limit: pageQuery.limit
    },
    success: Events
  })
    .annotate(Access, anyOf("webhooks:manage"))
    .annotateMerge(OpenApi.annotations({
      summary: "Events after a sequence, oldest first",
      description: "With `Accept: text/event-stream` the answer is a stream of server-sent events that goes on with " +
        "every new one; `Last-Event-ID` says where to start, before `after`. 503 when there are too many streams."
    }))
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(AccessControl)
