import { Effect, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import { Events, EventTailer } from "../../domain/platform/events/Events.ts"
import type { SequencedEvent } from "../../domain/platform/events/EventSubscribers.ts"
import { pageSize } from "../../domain/platform/paging/Paging.ts"
import { EventCursor, EventsGroup } from "./EventsApi.ts"
import { messageOf, serverSentEvents } from "./ServerSentEvents.ts"

export const eventStream = (events: Stream.Stream<SequencedEvent>) => {
  const { body, headers } = serverSentEvents(
    Stream.map(
      events,
      ({ organizationId: _, ...event }) => messageOf({ id: event.sequence, event: event.type, data: event })
    )
  )
  return HttpServerResponse.stream(body, { headers, contentType: headers["content-type"] })
}

class InvalidCursor
  extends invalid("InvalidCursor", "Last-Event-ID", "must be the sequence of an event, a whole number.", "format")
{}
class UnknownEvent extends invalid("UnknownEvent", "type", "must be the name of an event.", "unknown_event") {}

const cursorOf = Schema.decodeOption(EventCursor)

/** A reconnecting client sends an empty header before its first event. */
const lastSeen = (sent: string | undefined) =>
  sent === undefined || sent === ""
    ? Effect.undefined
    : Effect.mapError(Effect.fromOption(cursorOf(sent)), () => new InvalidCursor())

export const eventsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(EventsGroup),
  "events",
  Effect.fnUntraced(function*(handlers) {
    const [events, tailer] = [yield* Events, yield* EventTailer]
    return handlers.handleAll({
      list: Effect.fnUntraced(function*({ query: { after = 0, limit, type }, request: { headers } }) {
        if (type !== undefined && !events.announces(type)) return yield* new UnknownEvent()
        if (headers["accept"]?.toLowerCase().includes("text/event-stream") !== true) {
          return yield* events.list({ after, limit: pageSize(limit), type })
        }
        const stream = yield* tailer.follow((yield* lastSeen(headers["last-event-id"])) ?? after)
        return eventStream(Stream.filter(stream, (event) => type === undefined || event.type === type))
      })
    })
  })
)
