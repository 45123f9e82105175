import { Effect } from "effect"
import { listOf, moveOf } from "stoa/plugin"
import { manage, read, routes } from "./ChannelOptions.ts"
import { orderExport, orderExports, refundRequest, refundRequests } from "./OrderTables.ts"
import { enqueuePush } from "./PushOrder.ts"
import { enqueueRefund } from "./StoreRefunds.ts"

/** Orders that stores ship (contract, plugins §13.3). */
export const exportRoutes = [
  listOf(routes, "/exports", orderExports, {
    summary: "List orders that stores ship",
    permission: read,
    filters: ["state", "storeId", "orderId"]
  }),
  listOf(routes, "/exports/failed", orderExports, {
    summary: "List orders that could not be sent to their store",
    permission: read,
    filters: ["storeId", "orderId"],
    answer: ({ db, page, where }) => db.table(orderExports).page({ ...where, state: "failed" }, page)
  }),
  moveOf(routes, "/exports", orderExport, "retry", {
    summary: "Send an order to its store again",
    description: "A job does it. 404 without it; 422 INVALID_TRANSITION unless it is failed.",
    allowed: manage,
    answer: ({ db, jobs, which }) =>
      Effect.gen(function*() {
        const { attempts, orderId, storeId } = yield* db.use(orderExport).lock("retry", which)
        yield* enqueuePush({ jobs }, { orderId, storeId })
        const begun = { attempts: attempts + 1, failureKind: null, lastError: null }
        return yield* db.use(orderExport).move("retry", which, begun)
      })
  }),
  listOf(routes, "/refund-requests", refundRequests, {
    summary: "List refunds of stores",
    description: "Without a state those that staff has to decide about.",
    permission: manage,
    filters: ["state", "storeId", "orderId"],
    answer: ({ db, page, where }) => db.table(refundRequests).page({ state: "requested", ...where }, page)
  }),
  moveOf(routes, "/refund-requests", refundRequest, "approve", {
    summary: "Approve a refund of a store",
    description: "A job gives the money back. 404 without it; 422 INVALID_TRANSITION unless it is requested.",
    allowed: manage,
    after: (row, call) => enqueueRefund(call, row)
  }),
  moveOf(routes, "/refund-requests", refundRequest, "reject", {
    summary: "Reject a refund of a store",
    allowed: manage
  })
]
