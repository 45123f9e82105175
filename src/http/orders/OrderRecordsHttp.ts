import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { OrderLookup } from "../../domain/orders/OrderLookup.ts"
import { OrderNotes } from "../../domain/orders/OrderNotes.ts"
import { OrderTimeline } from "../../domain/orders/OrderTimeline.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { deleted } from "../envelope/Envelope.ts"
import { OrderRecordsGroup } from "./OrderRecordsApi.ts"

/** Handlers of the routes that `OrderRecordsApi.ts` declares. */
export const orderRecordsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(OrderRecordsGroup),
  "orderRecords",
  Effect.fnUntraced(function*(handlers) {
    const lookup = yield* OrderLookup
    const notes = yield* OrderNotes
    const timeline = yield* OrderTimeline
    return handlers.handleAll({
      lookup: ({ query }) => lookup.find(query.q),
      timeline: ({ params, query }) => timeline.of(params.id, pageOf(query)),
      notes: ({ params, query }) => notes.list(params.id, pageOf(query)),
      addNote: ({ params, payload }) => notes.create(params.id, payload),
      removeNote: ({ params }) => Effect.as(notes.remove(params.id, params.noteId), deleted),
      myNotes: ({ params, query }) => notes.listOfOwn(params.idOrNumber, pageOf(query))
    })
  })
)
