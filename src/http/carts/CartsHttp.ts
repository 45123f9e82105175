import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Carts } from "../../domain/carts/Carts.ts"
import { PaymentSessions } from "../../workflows/carts/PaymentSessions.ts"
import { TotalledCarts } from "../../workflows/carts/TotalledCarts.ts"
import { deleted } from "../envelope/Envelope.ts"
import { CartsGroup, wantsTotals } from "./CartsApi.ts"

export const cartsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CartsGroup),
  "carts",
  Effect.fnUntraced(function*(handlers) {
    const [carts, totals, sessions] = yield* Effect.all([Carts, TotalledCarts, PaymentSessions])
    return handlers.handleAll({
      create: ({ payload }) => totals.create(payload),
      read: ({ params }) => totals.read(params.id),
      change: ({ params, payload }) => totals.change(params.id, payload),
      quote: ({ params, payload }) => totals.quote(params.id, payload),
      claim: ({ params }) => totals.claim(params.id),
      paymentSession: ({ params, payload }) => sessions.open(params.id, payload.provider),
      replaceSecret: ({ params }) => carts.replaceSecret(params.id),
      addItem: ({ params, payload, query }) => totals.addItem(params.id, payload, wantsTotals(query)),
      setQuantity: ({ params, payload, query }) =>
        totals.changeItem(params.id, params.itemId, payload, wantsTotals(query)),
      removeItem: ({ params, query }) =>
        Effect.map(totals.removeItem(params.id, params.itemId, wantsTotals(query)), (removed) => ({
          ...deleted,
          ...removed
        }))
    })
  })
)
