import { DateTime, Effect, Redacted, Result, Schema } from "effect"
import {
  addressIn,
  Conflict,
  conflict,
  defineTask,
  dueTask,
  InvalidTransition,
  type OrderId,
  type PluginContext,
  StillRunning,
  Unavailable,
  Uuid
} from "stoa/plugin"
import { failedMail, mailCustomer } from "./Mails.ts"
import { unansweredMail } from "./PriceMails.ts"
import { agreedTotalOf, isAbove, quote, review } from "./Prices.ts"
import { expiryOf, repeat } from "./Repeats.ts"
import {
  aboutOf,
  announce,
  currencyOf,
  freeCart,
  isGuarded,
  noTimes,
  releaseGoods,
  repeats,
  type ScheduledOrder,
  scheduledOrders,
  scheduling,
  type Tools
} from "./ScheduledOrder.ts"
import { orderOfCart } from "./ScheduledRepo.ts"
import type { ScheduleSettings } from "./ScheduleSettings.ts"
import { cancel } from "./Scheduling.ts"

class PriceTooHigh extends conflict("PriceTooHigh", "The price is above what the customer has agreed to.") {}

const placeTask = "scheduled-orders/place"
const minute = 60_000
/** A checkout that has not ended by then is asked for again: its job was lost with its process. */
const stuckAfter = 10 * minute

const later = (by: number) => Effect.map(DateTime.nowAsDate, (now) => new Date(now.getTime() + by))

const place = Effect.fnUntraced(function*({ jobs }: Tools, { id }: ScheduledOrder) {
  yield* jobs.enqueue(placeTask, { id })
})

const repeatMaybe = (tools: Tools, settings: ScheduleSettings, row: ScheduledOrder) =>
  repeats(row) ? repeat(tools, settings, row) : Effect.undefined

/**
 * One whose price is guarded has its next one after its first checkout: until then it may have to wait for its customer. A
 * failed one of its cart that was scheduled again meanwhile is the next one.
 */
const repeatGuarded = (tools: Tools, settings: ScheduleSettings, row: ScheduledOrder, attempts: number) =>
  isGuarded(row) && attempts === 0
    ? Effect.catchIf(
      tools.db.transaction(repeatMaybe(tools, settings, row)),
      Schema.is(Conflict),
      () => Effect.undefined
    )
    : Effect.undefined

/**
 * Has an order placed by a job that exists exactly if its row is claimed, and schedules the next one of its repeats. Of
 * several at once one claims it; 422 for the others. One whose cart was bought meanwhile is cancelled.
 */
const release = Effect.fn("ScheduledOrders.release")(
  function*(tools: Tools, settings: ScheduleSettings, { cartId, id, status }: ScheduledOrder) {
    // A checkout had claimed the cart when it was scheduled, and the process died before it looked at it again.
    const isBought = status === "scheduled" && (yield* tools.db.use(orderOfCart)(cartId)) !== undefined
    if (isBought) return yield* cancel(tools, settings, id)
    const claimed = yield* tools.db.use(scheduling).move("release", id, {
      dueAt: yield* later(stuckAfter),
      noticeAt: null,
      failureReason: null
    })
    // Slots are locked before goods, as for an order that is scheduled.
    if (status === "scheduled" && !isGuarded(claimed)) yield* repeatMaybe(tools, settings, claimed)
    // The checkout reserves them itself.
    if (settings.holdGoods === "scheduling" && status === "scheduled") yield* releaseGoods(tools, claimed)
    yield* place(tools, claimed)
    return claimed
  },
  (work, { db }) => db.transaction(work)
)

/** Releases what is for a time up to that many minutes from now. Gives the rows that this call has moved. */
export const releaseDue = Effect.fn("ScheduledOrders.releaseDue")(
  function*(tools: Tools, settings: ScheduleSettings, bufferMinutes: number) {
    const scheduledFor = {
      gte: yield* later(-settings.expireHours * 60 * minute),
      lte: yield* later(bufferMinutes * minute)
    }
    const due = yield* tools.db.table(scheduledOrders)
      .list({ status: "scheduled", scheduledFor }, { order: ["scheduledFor"], limit: 500 })
    const moved = yield* Effect.forEach(due, (row) =>
      // Another call has it, or its customer has cancelled it.
      Effect.catchIf(release(tools, settings, row), Schema.is(InvalidTransition), () => Effect.undefined))
    return moved.filter((row) => row !== undefined)
  }
)

/** A new cart of the customer with what is to be ordered, at today's prices. */
const filledCart = Effect.fnUntraced(function*({ services: { cart } }: Tools, row: ScheduledOrder) {
  const { id } = yield* cart.create({ currency: currencyOf(row), customerId: row.customerId })
  yield* Effect.forEach(row.items, (item) => cart.addItem(id, item), { discard: true })
  return id
})

/** Notes the cart that an order is checked out with, and the total that its customer agrees to; undefined without a guard. */
const prepared = Effect.fnUntraced(function*(tools: Tools, row: ScheduledOrder) {
  const quotedTotal = yield* agreedTotalOf(tools, row)
  if (quotedTotal !== undefined && isAbove(row, quotedTotal)) return yield* new PriceTooHigh()
  const checkoutCartId = yield* filledCart(tools, row)
  const only = { status: "processing", checkoutCartId: null } as const
  yield* tools.db.table(scheduledOrders).update(row.id, { checkoutCartId, quotedTotal }, only)
  return { cartId: checkoutCartId, total: quotedTotal ?? null }
})

/**
 * Checks out the cart of an order, at this total if there is one. The key is the order's id: the same cart checked out again
 * gives the same order.
 */
const checkOut = Effect.fnUntraced(function*(tools: Tools, row: ScheduledOrder) {
  const { cartId, total } = row.checkoutCartId === null
    ? yield* prepared(tools, row)
    : { cartId: row.checkoutCartId, total: row.quotedTotal }
  const { deliveryAddress, id, orderType, paymentMethodId } = row
  const token = yield* tools.db.table(scheduledOrders).secret(id, "paymentMethodToken")
  const { order } = yield* tools.services.checkout.startOnce({
    cartId,
    currency: currencyOf(row),
    paymentMethodId,
    ...(token !== null && { paymentMethodToken: Redacted.value(token) }),
    ...(total !== null && { expectedTotal: total }),
    ...(orderType === "delivery" && deliveryAddress !== null && { shippingAddress: addressIn(deliveryAddress) }),
    metadata: aboutOf(row)
  }, `scheduled order ${id}`).pipe(Effect.catchTag("Conflict/OtherTotal", () => new PriceTooHigh()))
  return order
})

/** Notes why an order could not be placed; it is tried again, or its customer gets a mail. */
const noteFailure = Effect.fnUntraced(
  function*(
    tools: Tools,
    settings: ScheduleSettings,
    { attempts, id }: ScheduledOrder,
    reason: string
  ) {
    const { retryMinutes, timezone } = settings
    const wait = retryMinutes[attempts]
    const failed = yield* tools.db.use(scheduling).move("fail", id, {
      failureReason: reason,
      checkoutCartId: null,
      quotedTotal: null,
      attempts: attempts + 1,
      dueAt: wait === undefined ? null : yield* later(wait * minute)
    })
    yield* repeatGuarded(tools, settings, failed, attempts)
    if (wait !== undefined) return
    yield* announce(tools, "failed", failed)
    const local = DateTime.makeZonedUnsafe(failed.scheduledFor, { timeZone: timezone })
    const scheduledFor = DateTime.formatIsoOffset(local).slice(0, 16).replace("T", " ")
    const data = { scheduledFor, timezone, reason }
    yield* mailCustomer(tools, failed, failedMail, { data, key: `${id}/${attempts}` })
  },
  (work, { db }) => db.transaction(work)
)

const complete = Effect.fnUntraced(
  function*(tools: Tools, settings: ScheduleSettings, id: string, orderId: OrderId) {
    const completed = yield* tools.db.use(scheduling).move("complete", id, { orderId, dueAt: null })
    yield* announce(tools, "completed", completed)
    yield* repeatGuarded(tools, settings, completed, completed.attempts)
    yield* freeCart(tools, completed.cartId)
  },
  (work, { db }) => db.transaction(work)
)

const askAbout = (tools: Tools, settings: ScheduleSettings, row: ScheduledOrder) =>
  Effect.flatMap(quote(tools, row), ({ grandTotal }) => review(tools, settings, row, grandTotal))

/** Cancels an order whose customer has not answered in time, with its repeats. */
const endReview = Effect.fn("ScheduledOrders.endReview")(
  function*(tools: Tools, settings: ScheduleSettings, row: ScheduledOrder) {
    yield* cancel(tools, settings, row.id)
    const data = { scheduledFor: row.scheduledFor.toISOString(), timezone: settings.timezone }
    yield* mailCustomer(tools, row, unansweredMail, { data, key: `${row.id}/${row.dueAt?.toISOString()}` })
  }
)

/** What says nothing about the order: it is asked for again. Another run of the job may have noted its cart first. */
const isUndecided = Schema.is(Schema.Union([InvalidTransition, StillRunning, Unavailable]))

/**
 * Places an order. A cart is filled and noted before its checkout, so that a process that follows one that died asks for
 * the same checkout and finds its order.
 */
const placeOrder = Effect.fn("ScheduledOrders.place")(function*(tools: Tools, settings: ScheduleSettings, id: string) {
  const row = yield* tools.db.table(scheduledOrders).find(id)
  if (row?.status !== "processing") return
  const placed = yield* Effect.result(checkOut(tools, row))
  if (Result.isSuccess(placed)) return yield* complete(tools, settings, id, placed.success.id)
  const { failure } = placed
  if (isUndecided(failure)) return yield* failure
  // Checkouts forget their keys after a day: a job that was away for longer finds its order by the cart.
  const made = row.checkoutCartId === null ? undefined : yield* tools.db.use(orderOfCart)(row.checkoutCartId)
  if (made !== undefined) return yield* complete(tools, settings, id, made)
  // The next one of its repeats may be to come already, when this one was tried before: that one is reviewed at its time.
  const isAsked = failure instanceof PriceTooHigh && (yield* Effect.isSuccess(askAbout(tools, settings, row)))
  if (!isAsked) yield* noteFailure(tools, settings, row, failure.error.message)
})

/** Gives an order up whose time is over, with what is held for it; its repeats go on. */
const expire = Effect.fn("ScheduledOrders.expire")(
  function*(tools: Tools, settings: ScheduleSettings, row: ScheduledOrder) {
    const expired = yield* tools.db.use(scheduling).move("expire", row.id, noTimes)
    yield* announce(tools, "expired", expired)
    if (row.status === "scheduled") {
      yield* repeatMaybe(tools, settings, expired)
      if (settings.holdGoods === "scheduling") yield* releaseGoods(tools, row)
    }
    yield* freeCart(tools, row.cartId)
  }
)

const Input = Schema.Struct({ id: Uuid })

/** The job that places one order, and the one that finds what is due. */
export const orderingTasks = (context: PluginContext, settings: ScheduleSettings) => [
  defineTask({
    slug: placeTask,
    concurrency: { key: ({ id }) => `${placeTask}/${id}` },
    // A checkout that goes on elsewhere is asked for every few seconds, until the order counts as stuck.
    retries: { attempts: 100, backoff: { type: "exponential", delay: 1_000, ceiling: 5_000, jitter: 0.2 } },
    handler: Effect.fnUntraced(function*({ input }) {
      const { id } = yield* Schema.decodeUnknownEffect(Input)(input)
      yield* placeOrder(yield* context.call, settings, id)
    })
  }),
  dueTask(context, {
    slug: "scheduled-orders/process-due",
    schedule: "* * * * *",
    of: scheduledOrders,
    where: (now) => ({ status: { in: ["scheduled", "price_review", "failed", "processing"] }, dueAt: { lte: now } }),
    each: Effect.fnUntraced(function*(row, tools) {
      if (row.status === "price_review") return yield* endReview(tools, settings, row)
      const isExpired = row.status !== "processing" && expiryOf(settings, row) < (yield* DateTime.nowAsDate)
      if (isExpired) return yield* expire(tools, settings, row)
      if (row.status !== "processing") return yield* release(tools, settings, row)
      yield* tools.db.table(scheduledOrders).update(row.id, { dueAt: yield* later(stuckAfter) })
      return yield* place(tools, row)
    })
  })
]
