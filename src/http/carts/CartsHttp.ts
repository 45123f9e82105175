import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { Carts } from "../../domain/carts/Carts.ts"
import { TotalledCarts } from "../../workflows/carts/TotalledCarts.ts"
import { deleted } from "../envelope/Envelope.ts"
import { CartsGroup } from "./CartsApi.ts"

export const cartsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CartsGroup),
  "carts",
  Effect.fnUntraced(function*(handlers) {
    const [carts, totals] = [yield* Carts, yield* TotalledCarts]
    return handlers.handleAll({
      create: ({ payload }) => totals.create(payload),
      read: ({ params }) => totals.read(params.id),
      change: ({ params, payload }) => totals.change(params.id, payload),
      quote: ({ params, payload }) => totals.quote(params.id, payload),
      addItem: ({ params, payload }) => carts.addItem(params.id, payload),
      setQuantity: ({ params, payload }) => carts.changeItem(params.id, params.itemId, payload),
      removeItem: ({ params }) => Effect.as(carts.removeItem(params.id, params.itemId), deleted)
    })
  })
)
