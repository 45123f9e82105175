import { Effect } from "effect"
import { CurrentActor } from "../../domain/access/Actor.ts"
import { toCart } from "../../domain/carts/Cart.ts"
import { Carts } from "../../domain/carts/Carts.ts"
import { CartClient } from "../../entities/CartClient.ts"
import { Checkouts } from "../../workflows/checkout/Checkouts.ts"
import { answerOf, checkoutKey } from "../checkout/CheckoutHttp.ts"
import { fingerprint } from "../middleware/IdempotencyKey.ts"
import { CartsRpc } from "./CartsRpc.ts"
import { RpcConnection } from "./RpcConnection.ts"

/** Answers to the calls that `CartsRpc.ts` declares. */
export const cartsCalls = CartsRpc.toLayer(Effect.gen(function*() {
  const carts = yield* Carts
  const client = yield* CartClient
  const checkouts = yield* Checkouts
  return CartsRpc.of({
    "carts.create": (cart) => carts.create(cart),
    "carts.read": ({ id }) => Effect.map(carts.get(id), toCart),
    "carts.addItem": ({ cartId, item }) => client.addItem(cartId, item),
    "carts.setQuantity": ({ cartId, itemId, quantity }) => client.setQuantity(cartId, itemId, quantity),
    "carts.removeItem": ({ cartId, itemId }) => client.removeItem(cartId, itemId),
    // The same request over HTTP has the same print: a repeat finds its order whichever way it comes.
    "carts.checkout": Effect.fnUntraced(function*(request, { headers }) {
      const { remoteAddress } = yield* RpcConnection
      const key = yield* checkoutKey({ headers, remoteAddress }, request, yield* CurrentActor)
      return answerOf(
        yield* checkouts.start(request, fingerprint("POST", "/api/checkout", JSON.stringify(request)), key)
      )
    })
  })
}))
