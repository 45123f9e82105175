import { Effect, Stream } from "effect"
import { Events } from "../../domain/events/Events.ts"
import { EventTailer } from "../../domain/events/EventTailer.ts"
import { toStoreEvent } from "../events/EventStream.ts"
import { EventsRpc } from "./EventsRpc.ts"
import { askedPage } from "./RpcLists.ts"

/** Answers to the calls that `EventsRpc.ts` declares. */
export const eventsCalls = EventsRpc.toLayer(Effect.gen(function*() {
  const events = yield* Events
  const tailer = yield* EventTailer
  return EventsRpc.of({
    "events.list": ({ after = 0, limit, type }) =>
      Effect.map(events.list({ after, type, limit: askedPage({ limit }).limit }), (batch) => ({
        events: batch.events.map(toStoreEvent),
        next: batch.next
      })),
    "events.tail": ({ after = 0, type }) =>
      Stream.unwrap(tailer.follow(after)).pipe(
        Stream.filter((event) => type === undefined || event.type === type),
        Stream.map(toStoreEvent)
      )
  })
}))
