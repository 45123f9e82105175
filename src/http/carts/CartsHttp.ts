import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { toCart } from "../../domain/carts/Cart.ts"
import { Carts } from "../../domain/carts/Carts.ts"
import { deleted } from "../envelope/Envelope.ts"
import { CartsGroup } from "./CartsApi.ts"

export const cartsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(CartsGroup),
  "carts",
  Effect.fnUntraced(function*(handlers) {
    const carts = yield* Carts
    return handlers.handleAll({
      create: ({ payload }) => carts.create(payload),
      read: ({ params }) => Effect.map(carts.get(params.id), toCart),
      addItem: ({ params, payload }) => carts.addItem(params.id, payload),
      setQuantity: ({ params, payload }) => carts.changeItem(params.id, params.itemId, payload),
      removeItem: ({ params }) => Effect.as(carts.removeItem(params.id, params.itemId), deleted)
    })
  })
)
