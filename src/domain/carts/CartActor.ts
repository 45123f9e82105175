import { Context, type Effect } from "effect"
import type { Conflict, NotFound, Unavailable, ValidationFailed } from "../platform/errors/ApiErrors.ts"
import type { CartId, CartLineId } from "../platform/ids/Id.ts"
import type { CartLine, CartState, CartVisitor, CartWrite, PricedLineChange } from "./Cart.ts"

export type LineToAdd = Omit<CartLine, "cartId" | "currency">

type Refused = NotFound | ValidationFailed | Conflict | Unavailable

/** Makes changes in the cart's actor, one at a time; `seen` is the cart as the sender read it. */
export class CartActor extends Context.Service<CartActor, {
  readonly addLine: (
    cartId: CartId,
    visitor: CartVisitor,
    seen: CartState,
    line: LineToAdd
  ) => Effect.Effect<CartLine, Refused>
  readonly changeLine: (
    cartId: CartId,
    visitor: CartVisitor,
    seen: CartState,
    lineId: CartLineId,
    change: PricedLineChange
  ) => Effect.Effect<CartLine, Refused>
  readonly removeLine: (
    cartId: CartId,
    visitor: CartVisitor,
    seen: CartState,
    lineId: CartLineId
  ) => Effect.Effect<CartLine, Refused>
  readonly change: (
    cartId: CartId,
    visitor: CartVisitor,
    seen: CartState,
    write: CartWrite
  ) => Effect.Effect<void, Refused>
}>()("stoa/domain/carts/CartActor") {}
