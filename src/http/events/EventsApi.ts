import { Schema, SchemaGetter } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Access, anyOf } from "../../domain/platform/access/AccessRule.ts"
import { EventName, StoreEvent } from "../../domain/platform/events/Event.ts"
import { typedAs } from "../../domain/platform/hints/Hints.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import { summary } from "../endpoint/Resource.ts"
import { AccessControl } from "../middleware/Access.ts"
import { Errors, parseOptions } from "../middleware/Errors.ts"

const Events = Schema.Struct({
  data: Schema.Array(StoreEvent),
  meta: Schema.Struct({ next: Schema.Int.annotate({ description: "The cursor to go on with, as `after`." }) })
}).pipe(
  Schema.decodeTo(Schema.Struct({ events: Schema.Array(Schema.toType(StoreEvent)), next: Schema.Int }), {
    decode: SchemaGetter.transform(({ data, meta }) => ({ events: data, next: meta.next })),
    encode: SchemaGetter.transform(({ events, next }) => ({ data: events, meta: { next } }))
  })
)

export const EventCursor = Schema.NumberFromString.check(
  Schema.isInt(),
  Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
).pipe(Schema.annotateEncoded({
  description: "Sequence to start behind. Default 0.",
  ...typedAs({ type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
}))

/** The stream of events (spec §6). */
export const EventsGroup = HttpApiGroup.make("events").add(
  HttpApiEndpoint.get("list", "/api/events", {
    query: {
      after: Schema.optional(EventCursor),
      type: Schema.optional(EventName.annotate({ description: "Only events of this type." })),
      limit: pageQuery.limit
    },
    success: Events
  })
    .annotate(Access, anyOf("webhooks:manage"))
    .annotateMerge(summary(
      "List events after a sequence, oldest first",
      "With `Accept: text/event-stream` the answer is a stream of server-sent events that goes on with " +
        "every new one; `Last-Event-ID` says where to start, before `after`. 503 when there are too many streams."
    ))
)
  .annotateMerge(parseOptions)
  .middleware(Errors).middleware(AccessControl)
