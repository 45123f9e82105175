import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { OrderEdits } from "../../domain/checkout/OrderEdits.ts"
import { Quotes } from "../../domain/checkout/Quotes.ts"
import { ManualOrders } from "../../workflows/orders/ManualOrders.ts"
import { deleted } from "../envelope/Envelope.ts"
import { AdminOrdersGroup } from "./AdminOrdersApi.ts"

/** Handlers of the routes that `AdminOrdersApi.ts` declares. */
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
