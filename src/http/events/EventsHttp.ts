import { Duration, Effect, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { invalid } from "../../domain/errors/ErrorKinds.ts"
import { Events, EventTailer } from "../../domain/events/Events.ts"
import type { SequencedEvent } from "../../domain/events/EventSubscribers.ts"
import { pageSize } from "../../domain/paging/Paging.ts"
import { EventCursor, EventsGroup } from "./EventsApi.ts"

/** A server-sent event; JSON contains no line breaks. The organization is that of the reader. */
const messageOf = ({ organizationId: _, ...event }: SequencedEvent): string =>
  `id: ${event.sequence}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

/** Keeps a stream without events open. */
const heartbeat = ": heartbeat\n\n"

/** Proxies close connections that are silent for half a minute or more. */
const heartbeatEvery = "15 seconds"

/** Maximum life of a stream. The client then reconnects by itself, and its access is checked again. */
const maxLife = Duration.minutes(15)

/** Tells the client to reconnect after so many milliseconds. */
const retry = "retry: 1000\n\n"

/** A stream of the events. It ends with the process, or after a quarter of an hour. */
export const eventStream = (events: Stream.Stream<SequencedEvent>) => {
  const messages = Stream.map(events, messageOf)
  const beats = Stream.map(Stream.drop(Stream.tick(heartbeatEvery), 1), () => heartbeat)
  const text = Stream.concat(Stream.make(retry), Stream.merge(messages, beats, { haltStrategy: "left" }))
  return HttpServerResponse.stream(
    Stream.encodeText(Stream.interruptWhen(text, Effect.sleep(maxLife))),
    {
      contentType: "text/event-stream",
      // The last one keeps nginx from buffering the stream.
      headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
    }
  )
}

class InvalidCursor extends invalid("InvalidCursor", "Last-Event-ID", "must be a sequence") {}
class UnknownEvent extends invalid("UnknownEvent", "type", "is no event") {}

const cursorOf = Schema.decodeOption(EventCursor)

/** The last event that a reconnecting client received. It sends an empty header before its first event. */
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
