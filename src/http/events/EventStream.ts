import { Duration, Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { SequencedEvent } from "../../domain/events/EventSubscribers.ts"
import type { StoreEvent } from "./EventsApi.ts"

/** An event as the API shows it. */
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

/** A server-sent event; JSON contains no line breaks. */
export const toMessage = (event: SequencedEvent): string =>
  `id: ${event.sequence}\nevent: ${event.type}\ndata: ${JSON.stringify(toStoreEvent(event))}\n\n`

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
  const messages = Stream.map(events, toMessage)
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
