import { Effect } from "effect"
import type { Actor } from "stoa/plugin"
import { ownVendor } from "../parties/VendorPortal.ts"
import { SubOrderCancels } from "./SubOrderCancels.ts"
import { SubOrderMoves } from "./SubOrderMoves.ts"
import { SubOrders } from "./SubOrders.ts"
import {
  cancelOrder,
  confirmOrder,
  deliverOrder,
  getOwnOrder,
  getSubOrder,
  listOwnOrders,
  listSubOrders,
  moveSubOrder,
  processOrder,
  shipOrder
} from "./SubOrdersApi.ts"

/** The vendor that the actor acts for; routes of the portal admit only members. */
const own = (actor: Actor): { readonly vendorId: string } => ({ vendorId: ownVendor(actor) })

export const subOrderRoutes = [
  listSubOrders.handle(({ page, query }) => Effect.flatMap(SubOrders, (orders) => orders.page(query, page))),
  getSubOrder.handle(({ params }) => Effect.flatMap(SubOrders, (orders) => orders.get(params.id))),
  moveSubOrder.handle(({ input: { reason, status }, params }) =>
    Effect.gen(function*() {
      const [moves, cancels] = yield* Effect.all([SubOrderMoves, SubOrderCancels])
      return status === "cancelled"
        ? yield* cancels.cancel(params.id, reason ?? "Cancelled by the store.")
        : yield* moves.force(params.id, status)
    })
  ),
  listOwnOrders.handle(({ actor, page, query }) =>
    Effect.flatMap(SubOrders, (orders) => orders.page({ status: query.status, ...own(actor) }, page))
  ),
  getOwnOrder.handle(({ actor, params }) =>
    Effect.flatMap(SubOrders, (orders) => orders.get(params.subOrderId, own(actor)))
  ),
  confirmOrder.handle(({ actor, params }) =>
    Effect.flatMap(SubOrderMoves, (moves) => moves.move(params.subOrderId, own(actor), "confirmed"))
  ),
  processOrder.handle(({ actor, params }) =>
    Effect.flatMap(SubOrderMoves, (moves) => moves.move(params.subOrderId, own(actor), "processing"))
  ),
  shipOrder.handle(({ actor, input, params }) =>
    Effect.flatMap(SubOrderMoves, (moves) => moves.move(params.subOrderId, own(actor), "shipped", input))
  ),
  deliverOrder.handle(({ actor, params }) =>
    Effect.flatMap(SubOrderMoves, (moves) => moves.move(params.subOrderId, own(actor), "delivered"))
  ),
  cancelOrder.handle(({ actor, input, params }) =>
    Effect.flatMap(SubOrderCancels, (cancels) => cancels.cancel(params.subOrderId, input.reason, own(actor)))
  )
]
