import { Duration, Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { SequencedEvent } from "../../domain/events/EventSubscribers.ts"
import type { StoreEvent } from "./EventsApi.ts"

/** An event as the API tells it. */
export const toStoreEvent = (event: SequencedEvent): StoreEvent => ({
  id: event.id,
  sequence: event.sequence,
  type: event.type,
  timestamp: event.createdAt,
  entityType: event.entityType,
  entityId: event.entityId,
  data: { ...event.payload },
  actorId: event.actorId,
  requestId: event.requestId
})

/** One message of a stream of server-sent events; JSON without indentation has no line breaks. */
export const toMessage = (event: SequencedEvent): string =>
  `id: ${event.sequence}\nevent: ${event.type}\ndata: ${JSON.stringify(toStoreEvent(event))}\n\n`

/** What clients and proxies between see of a stream that has nothing to tell. */
const heartbeat = ": heartbeat\n\n"

/** Proxies cut off connections that are silent for half a minute or more. */
const heartbeatEvery = "15 seconds"

/** Then a client reconnects by itself, and its credentials are checked again. */
const longest = Duration.minutes(15)

/** Milliseconds that a client waits before it comes again. */
const welcome = "retry: 1000\n\n"

/** Answers with the events as they come. It ends with the process, or after a quarter of an hour. */
export const eventStream = (events: Stream.Stream<SequencedEvent>) => {
  const messages = Stream.map(events, toMessage)
  const beats = Stream.map(Stream.drop(Stream.tick(heartbeatEvery), 1), () => heartbeat)
  const text = Stream.concat(Stream.make(welcome), Stream.merge(messages, beats, { haltStrategy: "left" }))
  return HttpServerResponse.stream(
    Stream.encodeText(Stream.interruptWhen(text, Effect.sleep(longest))),
    {
      contentType: "text/event-stream",
      // The last one tells nginx not to collect the stream.
      headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
    }
  )
}
