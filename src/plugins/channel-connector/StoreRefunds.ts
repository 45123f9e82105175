import { DateTime, Effect, Schema } from "effect"
import {
  Conflict,
  defineTask,
  type OrderLineId,
  type PluginCall,
  type PluginTaskCall,
  RefundId,
  RetryIn
} from "stoa/plugin"
import { Channels, retries } from "./ChannelOptions.ts"
import type { RemoteOrder } from "./ChannelRecords.ts"
import { type RefundRequest, refundRequest, refundRequests } from "./OrderTables.ts"
import { type OrderCall, shipsAll, type SoldByStore } from "./SoldByStore.ts"
import type { Store } from "./StoreTables.ts"

const executeTask = "channel/execute-refund"
const dayMs = 86_400_000

export const enqueueRefund = ({ jobs }: Pick<PluginCall, "jobs">, { id }: RefundRequest) =>
  jobs.enqueue(executeTask, { requestId: id })

/** What a refund gives back of an order. */
type Parts = Pick<RefundRequest, "amount" | "lines" | "shipping">

/** The request for it; without an amount for all that the lines and the shipping are worth. */
export const requestOf = ({ amount = 0, lines, shipping }: Partial<Pick<Parts, "amount">> & Omit<Parts, "amount">) => ({
  ...(amount > 0 && { amount }),
  ...(lines.length > 0 && { lines }),
  ...(shipping > 0 && { shipping })
})

/** Units of each line that refunds will give back which wait for staff or their job. */
const waitingUnits = Effect.fnUntraced(function*({ db }: OrderCall, { order }: SoldByStore) {
  const waiting = yield* db.table(refundRequests).list({ orderId: order.id, state: { in: ["requested", "approved"] } })
  const units = new Map<OrderLineId, number>()
  for (const { lineItemId, quantity } of waiting.flatMap(({ lines }) => lines)) {
    units.set(lineItemId, (units.get(lineItemId) ?? 0) + quantity)
  }
  return units
})

type RemoteUnits = RemoteOrder["refunds"][number]["lines"]

/** Units of the order's lines that the store means; undefined when it means some that are not there, or none. */
const unitsOf = ({ own }: SoldByStore, waiting: ReadonlyMap<string, number>, remote: RemoteUnits) => {
  const lines = new Map<OrderLineId, number>()
  for (const { externalVariantId, quantity } of remote) {
    let left = quantity
    for (const { line } of own.filter((one) => one.externalVariantId === externalVariantId)) {
      const taken = (lines.get(line.id) ?? 0) + (waiting.get(line.id) ?? 0)
      const units = Math.min(left, line.quantity - line.refundedQuantity - taken)
      if (units > 0) lines.set(line.id, (lines.get(line.id) ?? 0) + units)
      left -= Math.max(0, units)
    }
    if (left > 0) return undefined
  }
  return lines.size === 0 ? undefined : [...lines].map(([lineItemId, quantity]) => ({ lineItemId, quantity }))
}

/**
 * The parts of the order that an amount is for: its lines, and the shipping as far as the lines are worth less. Without `lines`
 * the refund engine does not agree, and staff decides about the amount.
 */
const partsOf = Effect.fnUntraced(
  function*({ services }: OrderCall, sold: SoldByStore, amount: number, lines: Parts["lines"]) {
    const { preview } = services.refunds
    const worth = yield* preview(sold.order.id, { lines })
    const shipping = Math.max(0, amount - worth.amount)
    if (shipping > 0 && !shipsAll(sold)) return undefined
    const parts = { amount, lines, shipping }
    yield* preview(sold.order.id, requestOf(parts))
    return parts
  },
  // What it refuses is for staff.
  (work) => Effect.orElseSucceed(work, () => undefined)
)

/** Why staff has to decide about a refund; undefined: it is clean. */
const objectionTo = Effect.fnUntraced(function*(store: Store, { order }: SoldByStore, parts: Parts | undefined) {
  const { settings: { newStoreDays, refundAutoMax = order.amountCaptured ?? 0 } } = yield* Channels
  if (parts === undefined) return "The lines and the amount do not belong together."
  if (parts.amount > refundAutoMax) return `The amount is above ${refundAutoMax}, up to which refunds are automatic.`
  const ageMs = (yield* DateTime.nowAsDate).getTime() - store.connectedAt.getTime()
  return ageMs < newStoreDays * dayMs ? `The store was connected less than ${newStoreDays} days ago.` : undefined
})

/** Writes a refund of the store, once; one that is clean with the job that executes it (contract, plugins §13.5). */
const write = Effect.fnUntraced(function*(
  call: OrderCall,
  store: Store,
  sold: SoldByStore,
  { amount, parts, remoteRefundId }: { remoteRefundId: string; amount: number; parts: Parts | undefined }
) {
  const { db } = call
  const objection = yield* objectionTo(store, sold, parts)
  const row = db.table(refundRequests).insert({
    storeId: store.id,
    orderId: sold.order.id,
    remoteRefundId,
    ...(parts ?? { amount, lines: [] }),
    ...(objection === undefined ? { state: "approved" as const } : { lastError: objection })
  })
  const written = Effect.tap(row, (made) => objection === undefined ? enqueueRefund(call, made) : Effect.void)
  yield* Effect.catchIf(db.transaction(written), Schema.is(Conflict), () => Effect.void)
})

const isKnown = ({ db }: OrderCall, { id: storeId }: Store, remoteRefundId: string) =>
  Effect.map(db.table(refundRequests).first({ storeId, remoteRefundId }), (found) => found !== undefined)

/** Takes over what the store gave back of the order. */
export const takeRefund = Effect.fn("StoreRefunds.take")(function*(
  call: OrderCall,
  store: Store,
  sold: SoldByStore,
  { amount, lines, remoteRefundId }: RemoteOrder["refunds"][number]
) {
  if (amount === 0 || (yield* isKnown(call, store, remoteRefundId))) return
  const units = unitsOf(sold, yield* waitingUnits(call, sold), lines)
  const parts = units === undefined ? undefined : yield* partsOf(call, sold, amount, units)
  yield* write(call, store, sold, { remoteRefundId, amount, parts })
})

/** Units of the store's lines that were not handed over and no refund is about, and the shipping if that is all of the order. */
export const unsentParts = Effect.fn("StoreRefunds.unsent")(function*(call: OrderCall, sold: SoldByStore) {
  const { cap, preview } = call.services.refunds
  const { order, own } = sold
  const [left, waiting] = [yield* cap(order.id), yield* waitingUnits(call, sold)]
  const lines = left.lines.flatMap(({ lineItemId, quantity }) => {
    const units = quantity - (waiting.get(lineItemId) ?? 0)
    return units > 0 && own.some(({ line }) => line.id === lineItemId) ? [{ lineItemId, quantity: units }] : []
  })
  if (lines.length === 0) return undefined
  const unsent = (yield* preview(order.id, { lines })).lines.flatMap(({ lineItemId, unsent: quantity }) =>
    quantity > 0 ? [{ lineItemId, quantity }] : []
  )
  if (unsent.length === 0) return undefined
  const isAll = shipsAll(sold) &&
    own.every(({ line }) =>
      unsent.some(({ lineItemId, quantity }) => lineItemId === line.id && quantity === line.quantity)
    )
  return { lines: unsent, shipping: isAll ? left.shipping : 0 }
})

/** Gives back what a store does not send, because it cancelled the order. */
export const takeCancellation = Effect.fn("StoreRefunds.takeCancellation")(
  function*(call: OrderCall, store: Store, sold: SoldByStore, remoteOrderId: string) {
    const remoteRefundId = `cancelled:${remoteOrderId}`
    if (yield* isKnown(call, store, remoteRefundId)) return
    const unsent = yield* unsentParts(call, sold)
    if (unsent === undefined) return
    const { amount } = yield* call.services.refunds.preview(sold.order.id, requestOf(unsent))
    if (amount > 0) yield* write(call, store, sold, { remoteRefundId, amount, parts: { amount, ...unsent } })
  }
)

/** Writes the refund of the order, once: both change in one transaction. Gives its id; undefined when it was refused. */
const begin = Effect.fnUntraced(function*({ db, services }: PluginCall, row: RefundRequest) {
  const { refunds } = services
  const before = row.refundId === null ? undefined : yield* refunds.get(RefundId.make(row.refundId))
  const moved = (refundId: string) => db.use(refundRequest).move("execute", row.id, { refundId, lastError: null })
  // An operator may have settled the refund that failed.
  if (before?.status === "completed" || before?.status === "pending") {
    return yield* Effect.as(moved(before.id), before.id)
  }
  const reason = `Refund ${row.remoteRefundId} of a store`
  const written = db.transaction(Effect.gen(function*() {
    yield* db.use(refundRequest).lock("execute", row.id)
    const { refundId } = yield* refunds.request(row.orderId, { ...requestOf(row), reason })
    yield* moved(refundId)
    return refundId
  }))
  return yield* Effect.catch(
    written,
    ({ error }) => Effect.as(db.use(refundRequest).move("fail", row.id, { lastError: error.message }), undefined)
  )
})

/**
 * Executes a refund that was approved: the refund is written once, its money moves by the refund engine, and a failure hands it
 * back to staff (contract-tills-channels, amendment 52).
 */
export const refundExecution = defineTask({
  slug: executeTask,
  retries,
  concurrency: { key: ({ requestId }) => `refund:${requestId}` },
  handler: Effect.fn("StoreRefunds.execute")(function*({ ctx, input }: PluginTaskCall) {
    const { db, organizationId, services: { refunds } } = ctx
    const row = yield* db.table(refundRequests).get(String(input["requestId"]))
    if (row.state !== "approved" && row.state !== "executing") return
    const begun = row.state === "approved" ? yield* begin(ctx, row) : row.refundId
    if (begun === undefined || begun === null) return
    const refundId = RefundId.make(begun)
    yield* refunds.settle({ refundId, organizationId })
    const { failure, status } = yield* refunds.get(refundId)
    if (status === "pending") return yield* Effect.fail(new RetryIn(30_000, "The payment provider has not answered."))
    yield* status === "completed"
      ? db.use(refundRequest).move("finish", row.id)
      : db.use(refundRequest).move("fail", row.id, { lastError: failure ?? `The refund is ${status}.` })
  })
})
