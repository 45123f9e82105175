import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { OrderRecords } from "../../domain/orders/OrderRecords.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { deleted } from "../envelope/Envelope.ts"
import { OrderRecordsGroup } from "./OrderRecordsApi.ts"

/** Handlers of the routes that `OrderRecordsApi.ts` declares. */
export const orderRecordsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(OrderRecordsGroup),
  "orderRecords",
  Effect.fnUntraced(function*(handlers) {
    const records = yield* OrderRecords
    return handlers.handleAll({
      lookup: ({ query }) => records.lookup(query.q),
      timeline: ({ params, query }) => records.timeline(params.id, pageOf(query)),
      notes: ({ params, query }) => records.notes(params.id, pageOf(query)),
      addNote: ({ params, payload }) => records.addNote(params.id, payload),
      removeNote: ({ params }) => Effect.as(records.removeNote(params.id, params.noteId), deleted),
      myNotes: ({ params, query }) => records.ownNotes(params.idOrNumber, pageOf(query))
    })
  })
)
