import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { OrderEdits } from "../../domain/checkout/OrderEdits.ts"
import { Quotes } from "../../domain/checkout/Quotes.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { OrderRecords } from "../../domain/orders/OrderRecords.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { pageOf } from "../../domain/paging/Paging.ts"
import { ManualOrders } from "../../workflows/orders/ManualOrders.ts"
import { StatusChanges } from "../../workflows/payments/StatusChanges.ts"
import { deleted } from "../envelope/Envelope.ts"
import { AdminOrdersGroup, OrderRecordsGroup, OrdersGroup } from "./OrdersApi.ts"

export const ordersHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(OrdersGroup),
  "orders",
  Effect.fnUntraced(function*(handlers) {
    const orders = yield* Orders
    const fulfillments = yield* Fulfillments
    const changes = yield* StatusChanges
    return handlers.handleAll({
      list: ({ query }) => orders.list({ status: query.status }, pageOf(query)),
      read: ({ params }) => orders.get(params.idOrNumber),
      changeStatus: ({ params, payload }) => changes.change(params.id, payload),
      fulfillments: ({ params, query }) => fulfillments.ofOrder(params.id, pageOf(query))
    })
  })
)

export const adminOrdersHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(AdminOrdersGroup),
  "orderDesk",
  Effect.fnUntraced(function*(handlers) {
    const quotes = yield* Quotes
    const manual = yield* ManualOrders
    const edits = yield* OrderEdits
    return handlers.handleAll({
      quote: ({ payload }) => quotes.quote(payload),
      create: ({ payload }) => manual.create(payload),
      addLine: ({ params, payload }) => edits.addLine(params.id, payload),
      changeLine: ({ params, payload }) => edits.changeLine(params.id, params.lineId, payload),
      removeLine: ({ params }) => Effect.as(edits.removeLine(params.id, params.lineId), deleted)
    })
  })
)

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
