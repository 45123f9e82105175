import { Effect } from "effect"
import { type EventCall, type OrderId, ReturnId, type RowOf } from "stoa/plugin"
import { inTransaction, Market } from "../Market.ts"
import { lockOrder } from "../refunds/OrderLockRepo.ts"
import { NothingLeft } from "../refunds/RefundChoice.ts"
import { leftOf, type OfOrder } from "../refunds/SubOrderRefunds.ts"
import { subOrders } from "../suborders/SubOrder.ts"
import { returns } from "./Return.ts"

type Row = RowOf<typeof returns>

/** Works on the core's return of a row; does nothing for rows from before. */
export const withCore = <A, E, R>(
  { coreReturnId }: Row,
  work: (core: Market["Service"]["host"]["services"]["returns"], id: ReturnId) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    if (coreReturnId === null) return undefined
    return yield* work((yield* Market).host.services.returns, ReturnId.make(coreReturnId))
  })

/** Receives what it holds and was not given back otherwise, into stock. 409 when that is nothing. */
export const receiveCore = (row: Row, of: OfOrder) =>
  Effect.as(
    withCore(row, (core, id) =>
      Effect.gen(function*() {
        yield* (yield* Market).db.use(lockOrder)(of.orderId)
        const left = new Map((yield* leftOf(of)).lines.map(({ lineItemId, quantity }) => [lineItemId, quantity]))
        const lines = (yield* core.find(of.orderId, id)).lines.flatMap(({ lineItemId, quantity: held }) => {
          const quantity = Math.min(held, left.get(lineItemId) ?? 0)
          return quantity === 0 ? [] : [{ lineItemId, quantity, disposition: "restock" as const }]
        })
        if (lines.length === 0) return yield* new NothingLeft()
        yield* core.receive(of.orderId, id, { lines })
      })),
    {}
  )

/** Locks a return in the caller's transaction, and brings it in line with the core's, which staff and its buyer may move. */
export const followCore = Effect.fn("Returns.follow")(function*(id: string, orderId: OrderId) {
  const { db, host: { services } } = yield* Market
  const row = yield* db.table(returns).lock(id)
  const core = yield* withCore(row, (core, coreId) => core.find(orderId, coreId))
  if (core === undefined || core.status === "requested") return row
  const begun = row.status === "requested" ? "vendor_approved" : row.status
  const status = core.status === "approved" ? begun : core.status === "rejected" ? "vendor_rejected" : core.status
  if (status === row.status) return row
  const refundId = core.refundId ?? row.refundId
  return yield* db.table(returns).update(id, {
    status,
    refundId,
    refundAmountCents: refundId === null ? row.refundAmountCents : (yield* services.refunds.get(refundId)).amount,
    vendorNotes: core.rejectionReason ?? row.vendorNotes,
    resolvedAt: status === "vendor_approved" || status === "received" ? null : core.updatedAt
  })
})

/** Does so after each change of a return of the core. */
export const onCoreReturn = Effect.fnUntraced(function*({ event }: EventCall) {
  const { db } = yield* Market
  const row = yield* db.table(returns).first({ coreReturnId: event.entityId })
  if (row === undefined) return
  const { orderId } = yield* db.table(subOrders).get(row.subOrderId)
  yield* inTransaction(followCore(row.id, orderId))
})
