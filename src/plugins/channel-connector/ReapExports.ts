import { DateTime, Effect } from "effect"
import { conflict, defineTask, type PluginTaskCall } from "stoa/plugin"
import type { ChannelSettings } from "./ChannelOptions.ts"
import { eachExport } from "./ExportPages.ts"
import { type OrderExport, orderExport, orderExports } from "./OrderTables.ts"
import { enqueuePush } from "./PushOrder.ts"
import { isOver, soldByStore } from "./SoldByStore.ts"
import { requestOf, unsentParts } from "./StoreRefunds.ts"
import { StoreSessions } from "./StoreSessions.ts"

class HandedOver extends conflict("HandedOver", "Units were handed over at the same time.", { retryable: true }) {}

/** An export whose job ended with its process waits so long: longer than the tries of a job take. */
const lostMs = 6 * 3_600_000

/** Whether the store has an order that it never confirmed. A store that does not say has had its time. */
const isTaken = Effect.fnUntraced(
  function*({ ctx: { db } }: PluginTaskCall, { failureKind, orderId, storeId }: OrderExport) {
    if (failureKind !== "transient") return false
    const { use } = yield* StoreSessions
    const found = use(db, storeId, ({ channel: { orders } }) => orders?.lookup(orderId) ?? Effect.undefined)
    return (yield* Effect.orElseSucceed(found, () => undefined)) !== undefined
  }
)

/** Refunds what the store does not send and abandons the export: both, or neither. */
const abandon = Effect.fnUntraced(function*({ ctx }: PluginTaskCall, row: OrderExport) {
  const { db, organizationId, services } = ctx
  const sold = yield* soldByStore(ctx, row)
  const made = yield* db.transaction(Effect.gen(function*() {
    yield* db.use(orderExport).lock("reap", row.id)
    const parts = isOver(sold) ? undefined : yield* unsentParts(ctx, sold)
    const reason = "The store could not send it."
    const refund = parts === undefined
      ? undefined
      : yield* services.refunds.request(row.orderId, { ...requestOf(parts), reason })
    if (refund?.decided.lines.some(({ quantity, unsent }) => unsent < quantity) === true) {
      return yield* new HandedOver()
    }
    yield* db.use(orderExport).move("reap", row.id)
    return refund
  }))
  if (made?.settled === false) yield* services.refunds.settle({ refundId: made.refundId, organizationId })
  return { orderId: row.orderId, isRefunded: made !== undefined }
})

const reap = Effect.fnUntraced(function*(call: PluginTaskCall, row: OrderExport) {
  const { db } = call.ctx
  if (yield* isTaken(call, row)) {
    yield* enqueuePush(call.ctx, row)
    return undefined
  }
  return yield* abandon(call, row).pipe(
    Effect.catch(({ error: { message } }) =>
      Effect.andThen(
        Effect.logWarning(`The order ${row.orderId}, which no store sends, could not be refunded: ${message}`),
        Effect.ignore(
          db.table(orderExports).update(row.id, { lastError: `It could not be refunded: ${message}` }, {
            state: "failed"
          })
        )
      ).pipe(Effect.as(undefined))
    )
  )
})

/** Abandons exports that failed long ago (contract-tills-channels, amendment 53), and wakes those that lost their job. */
export const reaping = ({ exportSla: { definitiveMs, transientMs } }: ChannelSettings) =>
  defineTask({
    slug: "channel/reap-exports",
    schedule: "*/15 * * * *",
    everyOrganization: true,
    // Keys are those of an organization.
    concurrency: { key: () => "reap", supersedes: true },
    handler: Effect.fn("ReapExports.run")(function*(call: PluginTaskCall) {
      const { db } = call.ctx
      const now = (yield* DateTime.nowAsDate).getTime()
      const before = (ms: number) => ({ lt: new Date(now - ms) })
      const due = [
        { failureKind: "definitive", failedAt: before(definitiveMs) },
        { failureKind: "transient", failedAt: before(transientMs) }
      ] as const
      const abandoned: Array<{ readonly orderId: string; readonly isRefunded: boolean }> = []
      yield* eachExport(
        db,
        { state: "failed", or: due },
        (row) => Effect.map(reap(call, row), (one) => one === undefined ? 0 : abandoned.push(one))
      )
      yield* eachExport(
        db,
        { state: { in: ["pending", "exported"] }, updatedAt: before(lostMs) },
        (row) => enqueuePush(call.ctx, row)
      )
      const refundedOrderIds = abandoned.flatMap(({ isRefunded, orderId }) => isRefunded ? [orderId] : [])
      return { output: { abandonedCount: abandoned.length, refundedOrderIds } }
    })
  })
