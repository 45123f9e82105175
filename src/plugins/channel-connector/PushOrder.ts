import { DateTime, Effect, Result, Schema } from "effect"
import {
  Conflict,
  defineTask,
  type EventCall,
  GiveUp,
  type Order,
  OrderId,
  type PluginCall,
  type PluginTaskCall,
  RetryIn,
  rowIn
} from "stoa/plugin"
import { ChannelRefused } from "./ChannelErrors.ts"
import type { OrderSlice, RemoteOrder } from "./ChannelRecords.ts"
import { sourceLines } from "./ExportsRepo.ts"
import { type OrderExport, orderExport, orderExports } from "./OrderTables.ts"
import { sliceOf } from "./SliceOfOrder.ts"
import { isOver, type SoldByStore, soldByStore } from "./SoldByStore.ts"
import { type StoreSession, StoreSessions } from "./StoreSessions.ts"
import { stores } from "./StoreTables.ts"

const pushTask = "channel/push-order"

type ExportOf = Pick<OrderExport, "orderId" | "storeId">

export const enqueuePush = ({ jobs }: Pick<PluginCall, "jobs">, { orderId, storeId }: ExportOf) =>
  jobs.enqueue(pushTask, { storeId, orderId })

/** Paid, or free, and not sold at a till or brought from another system, whose goods have left. */
const isToShip = ({ amountCaptured, grandTotal, importedAt, status }: Order): boolean =>
  (amountCaptured !== null || grandTotal === 0) && importedAt === undefined &&
  (status === "pending" || status === "confirmed" || status === "processing")

/** Exports an order to each store of its lines, once: the row and its job are one transaction. */
const exportOrder = Effect.fn("PushOrder.export")(function*({ db, event, jobs, services }: EventCall) {
  const order = yield* services.orders.get(event.entityId)
  if (!isToShip(order)) return
  const sources = yield* db.use(sourceLines)(order.id)
  for (const storeId of new Set(sources.map((one) => one.storeId))) {
    const row = { storeId, orderId: order.id }
    yield* db.transaction(Effect.andThen(db.table(orderExports).insert(row), enqueuePush({ jobs }, row))).pipe(
      Effect.catchIf(Schema.is(Conflict), () => Effect.void)
    )
  }
})

/** The job of each export that is over sees to it. Others stay as they are: a failed one is for staff. */
const withdrawOrder = Effect.fn("PushOrder.withdraw")(function*(call: EventCall) {
  const { data, entityId } = call.event
  const orderId = OrderId.make(String(data["orderId"] ?? entityId))
  const rows = yield* call.db.table(orderExports).list({ orderId, endedAt: null })
  yield* Effect.forEach(
    rows,
    (row) => Effect.flatMap(soldByStore(call, row), (sold) => isOver(sold) ? enqueuePush(call, row) : Effect.void),
    { discard: true }
  )
})

/** Such a refund is completed when it is made. */
const givenOutside = "$.status ? (@ == \"completed\")"

/** Orders are exported when they are captured, or nothing is to pay (contract-tills-channels, amendment 47). */
export const orderEvents = {
  "payments.capture": { handler: exportOrder, only: { rowsIn: [rowIn(stores)] } },
  "orders.create": { handler: exportOrder, only: { rowsIn: [rowIn(stores)], record: "$.grandTotal ? (@ == 0)" } },
  "orders.cancel": { handler: withdrawOrder, only: { rowsIn: [rowIn(orderExports, { column: "orderId" })] } },
  "refunds.create": { handler: withdrawOrder, only: { rowsIn: [rowIn(stores)], record: givenOutside } },
  "refunds.complete": { handler: withdrawOrder, only: { rowsIn: [rowIn(stores)] } }
} as const

const sentence = ({ message }: Error) => message.slice(0, 2_000)

type Remote = Pick<RemoteOrder, "remoteOrderId" | "remoteUrl">

/** The store has it. A row is in `exported` while the store is asked, so that no other way leads to `confirmed`. */
const confirm = Effect.fnUntraced(
  function*({ ctx: { db } }: PluginTaskCall, { id, state }: OrderExport, { remoteOrderId, remoteUrl }: Remote) {
    if (state !== "exported") yield* db.use(orderExport).move("send", id)
    return yield* db.use(orderExport).move("confirm", id, {
      remoteOrderId,
      remoteUrl,
      failureKind: null,
      lastError: null
    })
  }
)

/**
 * Sends a slice. Before all but the first call the store is asked for it: an earlier one may have ended without an answer. It is
 * asked after a refusal, too: WooCommerce may save an order and then refuse it.
 */
const send = Effect.fnUntraced(function*({ channel: { orders } }: StoreSession, slice: OrderSlice, isFirst: boolean) {
  if (orders === undefined) return yield* new ChannelRefused({ message: "The adapter of the store takes no orders." })
  const found = isFirst ? undefined : yield* orders.lookup(slice.orderId)
  return found ??
    (yield* Effect.catchTag(
      orders.push(slice),
      "ChannelRefused",
      (refused) =>
        Effect.flatMap(orders.lookup(slice.orderId), (taken) => taken === undefined ? refused : Effect.succeed(taken))
    ))
})

/** Sends the order's slice to the store (contract-tills-channels, amendment 48). */
const push = Effect.fnUntraced(function*(call: PluginTaskCall, row: OrderExport, sold: SoldByStore) {
  const { db } = call.ctx
  const slice = sliceOf(sold)
  const sent = yield* db.use(orderExport).move("send", row.id, {
    attempts: row.attempts + (row.state === "exported" ? 0 : 1),
    failureKind: null,
    lastError: null,
    customerData: Result.isSuccess(slice) ? slice.success.customer : null
  })
  const { work } = yield* StoreSessions
  const asked = Result.isSuccess(slice)
    ? work(call, row.storeId, (session) => send(session, slice.success, row.state === "pending"))
    : Effect.fail(new GiveUp(slice.failure))
  const remote = yield* Effect.tapError(
    asked,
    (error) =>
      error instanceof RetryIn ? Effect.void : db.use(orderExport).move("fail", row.id, {
        failureKind: error instanceof GiveUp ? "definitive" : "transient",
        lastError: sentence(error)
      })
  )
  yield* confirm(call, sent, remote)
})

export const notCancelled = "The order was cancelled or refunded here, and the store does not cancel it."

export const isUntouched = ({ fulfillments, refunds, status }: RemoteOrder): boolean =>
  status === "open" && fulfillments.length === 0 && refunds.length === 0

/** Takes an order back from the store, which may have it although it never said so. What it began to do with others is followed. */
const withdraw = Effect.fnUntraced(function*(call: PluginTaskCall, row: OrderExport, { order }: SoldByStore) {
  const { db } = call.ctx
  const { work } = yield* StoreSessions
  const asked = row.state === "pending" ?
    Effect.succeed(undefined) :
    work(call, row.storeId, ({ channel: { orders } }) =>
      Effect.gen(function*() {
        if (orders === undefined) return undefined
        const remote = yield* row.remoteOrderId === null ? orders.lookup(row.orderId) : orders.get(row.remoteOrderId)
        if (remote === undefined) return undefined
        if (order.status !== "cancelled" && !isUntouched(remote)) return { remote, isCancelled: undefined }
        const { fulfillments, remoteOrderId, status } = remote
        if (status !== "open" || fulfillments.length > 0) return { remote, isCancelled: status === "cancelled" }
        const isCancelled = yield* Effect.catchTag(
          orders.cancel(remoteOrderId),
          "ChannelRefused",
          () => Effect.succeed(false)
        )
        return { remote, isCancelled }
      }))
  const found = yield* Effect.tapError(
    asked,
    (error) =>
      error instanceof RetryIn ? Effect.void : db.table(orderExports).update(row.id, { lastError: sentence(error) })
  )
  if (found !== undefined && row.remoteOrderId === null) yield* confirm(call, row, found.remote)
  if (found !== undefined && found.isCancelled === undefined) return
  yield* found?.isCancelled === false
    ? db.table(orderExports).update(row.id, {
      endedAt: yield* DateTime.nowAsDate,
      lastError: notCancelled
    })
    : db.use(orderExport).move("abandon", row.id, { lastError: "The order was cancelled or refunded." })
})

/** Brings an export to where its order is. Runs of one export follow one another, so that none sees the middle of another. */
export const orderPushing = defineTask({
  slug: pushTask,
  // Eight tries in four hours.
  retries: { attempts: 8, backoff: { type: "exponential", delay: 113_000 } },
  concurrency: { key: ({ orderId, storeId }) => `push:${orderId}:${storeId}`, supersedes: true },
  handler: Effect.fn("PushOrder.run")(function*(call: PluginTaskCall) {
    const orderId = OrderId.make(String(call.input["orderId"]))
    const row = yield* call.ctx.db.table(orderExports).first({ storeId: String(call.input["storeId"]), orderId })
    if (row === undefined || row.state === "abandoned" || row.endedAt !== null) return
    const sold = yield* soldByStore(call.ctx, row)
    if (isOver(sold)) yield* withdraw(call, row, sold)
    else if (row.remoteOrderId === null) yield* push(call, row, sold)
    const { state } = yield* call.ctx.db.table(orderExports).get(row.id)
    return { output: { exportId: row.id, state } }
  })
})
