import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { Fulfillment } from "../../domain/fulfillment/Fulfillment.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { Order } from "../../domain/orders/Order.ts"
import { FreeText } from "../../domain/text/Storable.ts"
import { OrdersGroup } from "../orders/OrdersApi.ts"
import { RpcAccess } from "./RpcAccess.ts"
import { conflict, forbidden, invalid, notFound, noTransition, unauthorized, unavailable } from "./RpcErrors.ts"
import { pageFields, pageOfRecords } from "./RpcLists.ts"
import { likeRoutes } from "./RpcRules.ts"

const like = likeRoutes(OrdersGroup)

const status = Schema.optional(Schema.String)
const unreadable = Schema.Union([notFound, forbidden])

/** Orders after their placement, as the routes under `/api/orders` have them. */
export const OrdersRpc = RpcGroup.make(
  Rpc.make("list", { payload: { ...pageFields, status }, success: pageOfRecords(Order) }).annotateMerge(like("list")),
  Rpc.make("stream", { payload: { status }, success: Order, stream: true }).annotateMerge(like("list")),
  Rpc.make("read", { payload: { idOrNumber: Schema.String }, success: Order, error: unreadable })
    .annotateMerge(like("read")),
  Rpc.make("changeStatus", {
    payload: { id: Uuid, status: Schema.String, reason: Schema.optional(FreeText) },
    success: Order,
    error: Schema.Union([notFound, unauthorized, forbidden, conflict, invalid, noTransition, unavailable])
  }).annotateMerge(like("changeStatus")),
  Rpc.make("fulfillments", {
    payload: { id: Uuid, ...pageFields },
    success: pageOfRecords(Fulfillment),
    error: unreadable
  }).annotateMerge(like("fulfillments"))
).prefix("orders.").middleware(RpcAccess)
