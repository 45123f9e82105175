import { Effect, Option, Schema, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import type { EventName } from "../../domain/events/Event.ts"
import { Events } from "../../domain/events/Events.ts"
import { EventTailer } from "../../domain/events/EventTailer.ts"
import { pageSize, type SentPage } from "../../domain/paging/Paging.ts"
import { EventCursor, EventsGroup } from "./EventsApi.ts"
import { eventStream, toStoreEvent } from "./EventStream.ts"

interface Query extends Pick<SentPage, "limit"> {
  readonly after?: number | undefined
  readonly type?: EventName | undefined
}

const wantsStream = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["accept"]?.toLowerCase().includes("text/event-stream") === true

const cursorOf = Schema.decodeOption(EventCursor)

/** The last event that a reconnecting client received. It sends an empty header before its first event. */
const lastSeen = Effect.fnUntraced(function*({ headers }: HttpServerRequest.HttpServerRequest) {
  const sent = headers["last-event-id"]
  if (sent === undefined || sent === "") return undefined
  const cursor = cursorOf(sent)
  return Option.isSome(cursor) ? cursor.value : yield* ValidationFailed.of("Last-Event-ID", "must be a sequence")
})

const handle = (events: Events["Service"], tailer: EventTailer["Service"]) =>
  Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest, { after = 0, limit, type }: Query) {
    if (type !== undefined && !events.announces(type)) return yield* ValidationFailed.of("type", "is no event")
    if (wantsStream(request)) {
      const stream = yield* tailer.follow((yield* lastSeen(request)) ?? after)
      return eventStream(Stream.filter(stream, (event) => type === undefined || event.type === type))
    }
    const batch = yield* events.list({ after, limit: pageSize(limit), type })
    return { events: batch.events.map(toStoreEvent), next: batch.next }
  })

/** Handlers of the routes that `EventsApi.ts` declares. */
export const eventsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(EventsGroup),
  "events",
  Effect.fnUntraced(function*(handlers) {
    const answer = handle(yield* Events, yield* EventTailer)
    return handlers.handleAll({ list: ({ query, request }) => answer(request, query) })
  })
)
