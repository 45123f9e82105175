import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { Cart, CartLine, CreatedCart, NewCart, NewCartLine, Quantity } from "../../domain/carts/Cart.ts"
import { CheckoutAnswer, CheckoutRequest } from "../../domain/checkout/Checkout.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { CartsGroup } from "../carts/CartsApi.ts"
import { CheckoutGroup } from "../checkout/CheckoutApi.ts"
import { RpcAccess } from "./RpcAccess.ts"
import { conflict, forbidden, invalid, notCheckedOut, notFound, stillRunning, unavailable } from "./RpcErrors.ts"
import { likeRoutes } from "./RpcRules.ts"

const like = likeRoutes(CartsGroup)

const changing = Schema.Union([notFound, conflict, forbidden, invalid, unavailable])

/** Carts and their checkout, as the routes under `/api/carts` and `/api/checkout` have them. */
export const CartsRpc = RpcGroup.make(
  Rpc.make("create", { payload: NewCart, success: CreatedCart, error: notFound }).annotateMerge(like("create")),
  Rpc.make("read", { payload: { id: Uuid }, success: Cart, error: notFound }).annotateMerge(like("read")),
  Rpc.make("addItem", { payload: { cartId: Uuid, item: NewCartLine }, success: CartLine, error: changing })
    .annotateMerge(like("addItem")),
  Rpc.make("setQuantity", {
    payload: { cartId: Uuid, itemId: Uuid, quantity: Quantity },
    success: CartLine,
    error: changing
  }).annotateMerge(like("setQuantity")),
  Rpc.make("removeItem", { payload: { cartId: Uuid, itemId: Uuid }, error: changing })
    .annotateMerge(like("removeItem")),
  Rpc.make("checkout", {
    payload: CheckoutRequest,
    success: CheckoutAnswer,
    error: Schema.Union([notFound, conflict, stillRunning, forbidden, invalid, notCheckedOut, unavailable])
  }).annotateMerge(likeRoutes(CheckoutGroup)("checkout"))
).prefix("carts.").middleware(RpcAccess)
