import { DateTime, Effect, Redacted, Schema } from "effect"
import {
  type Actor,
  type CustomerId,
  forbidden,
  holds,
  inputOf,
  invalid,
  isSignedIn,
  requireWindow,
  Unauthorized
} from "stoa/plugin"
import { checkHoldTime, hold, isWithinHold } from "./HeldGoods.ts"
import {
  admin,
  announce,
  freeCart,
  own,
  releaseGoods,
  type ScheduledOrder,
  scheduledOrders,
  scheduling,
  type Tools
} from "./ScheduledOrder.ts"
import type { ScheduleSettings } from "./ScheduleSettings.ts"
import { daysLater, takePlace } from "./Slots.ts"

class NotForOthers extends forbidden("NotForOthers", `Permission '${admin}' is required to schedule for others.`) {}
class CustomerMissing
  extends invalid("CustomerMissing", "customerId", "customerId is required of callers without a profile.")
{}
class ForeignCart extends invalid("ForeignCart", "cartId", "cartId must be a cart of the customer.") {}
class NothingToOrder extends invalid("NothingToOrder", "cartId", "cartId must be an active cart with items.") {}
class NoAddress extends invalid("NoAddress", "deliveryAddress", "deliveryAddress is required for a delivery.") {}
class NoDelivery
  extends invalid("NoDelivery", "deliveryAddress", "deliveryAddress is for deliveries: set orderType to delivery.")
{}
class TooSoon extends invalid("TooSoon", "scheduledFor", "scheduledFor is too soon.") {}
class TooLate extends invalid("TooLate", "scheduledFor", "scheduledFor is too far ahead.") {}
class Over extends invalid("Over", "", "The time of the order is over: change its time to schedule it again.") {}
class NotRepeated extends invalid("NotRepeated", "", "The order does not repeat.") {}
class LastOne extends invalid("LastOne", "", "The order does not repeat any more.") {}

const details = ["orderType", "pickupLocation", "deliveryAddress", "notes", "everyDays", "repeatUntil"] as const

export const NewSchedule = inputOf(scheduledOrders, {
  required: ["cartId", "scheduledFor", "paymentMethodId"],
  optional: [...details, "customerId", "paymentMethodToken"]
})

/** What can be changed until it is placed; absent fields stay. */
export const Change = inputOf(scheduledOrders, {
  optional: [...details, "scheduledFor", "paymentMethodId", "paymentMethodToken"]
})
type Change = typeof Change.Type

/** Another means of payment for another attempt. */
export const Means = Schema.NullOr(
  inputOf(scheduledOrders, { optional: ["paymentMethodId", "paymentMethodToken"] })
)

/** Other means of payment do not get the token of those before. */
const meansFor = <M extends NonNullable<typeof Means.Type>>({ paymentMethodId }: ScheduledOrder, means: M) =>
  means.paymentMethodId === undefined || means.paymentMethodId === paymentMethodId
    ? means
    : { ...means, paymentMethodToken: means.paymentMethodToken ?? null }

/** When an order for that time is placed. */
const releaseOf = ({ releaseMinutes }: ScheduleSettings, scheduledFor: Date) =>
  new Date(scheduledFor.getTime() - releaseMinutes * 60_000)

/** Staff names the customer; others schedule for themselves. */
const customerFor = Effect.fnUntraced(function*({ services }: Tools, actor: Actor, named: CustomerId | undefined) {
  if (holds(actor, admin)) {
    if (named !== undefined) return named
    if (!isSignedIn(actor)) return yield* new CustomerMissing()
  } else if (!isSignedIn(actor)) return yield* Unauthorized.of()
  const { id } = yield* services.customers.ownProfile
  return named === undefined || named === id ? id : yield* new NotForOthers()
})

const checkTime = Effect.fnUntraced(function*({ leadMinutes, maxDaysAhead }: ScheduleSettings, scheduledFor: Date) {
  const now = yield* DateTime.now
  if (scheduledFor < DateTime.toDateUtc(DateTime.add(now, { minutes: leadMinutes }))) return yield* new TooSoon()
  if (scheduledFor > DateTime.toDateUtc(DateTime.add(now, { days: maxDaysAhead }))) return yield* new TooLate()
})

/** What is picked up has no shipping costs, so it is sent nowhere. */
const checkAddress = ({ deliveryAddress, orderType }: Pick<Change, "deliveryAddress" | "orderType">) => {
  const isDelivery = orderType === "delivery"
  if (isDelivery && !deliveryAddress) return Effect.fail(new NoAddress())
  return deliveryAddress && !isDelivery ? Effect.fail(new NoDelivery()) : Effect.void
}

/** Schedules a cart of the customer's. 404 for another one's cart, 409 when it is scheduled or its slot is full, 422 when it cannot be. */
export const schedule = Effect.fn("ScheduledOrders.schedule")(function*(
  tools: Tools,
  settings: ScheduleSettings,
  actor: Actor,
  { cartId, customerId: named, scheduledFor, ...rest }: typeof NewSchedule.Type
) {
  const { db, services } = tools
  const customerId = yield* customerFor(tools, actor, named)
  yield* checkTime(settings, scheduledFor)
  yield* checkHoldTime(settings, scheduledFor)
  yield* requireWindow({ scheduledFor, repeatUntil: rest.repeatUntil }, "scheduledFor", "repeatUntil")
  yield* checkAddress(rest)
  const seen = yield* services.cart.get(cartId)
  const { cart, lines } = seen
  if (cart.customerId !== null && cart.customerId !== customerId) return yield* new ForeignCart()
  if (cart.status !== "active" || lines.length === 0) return yield* new NothingToOrder()
  const items = lines.map(({ entityId, metadata, notes, quantity, variantId }) => ({
    entityId,
    metadata,
    notes,
    quantity,
    variantId
  }))
  const made = yield* db.transaction(Effect.gen(function*() {
    const slotStart = yield* takePlace(tools, settings, scheduledFor, null)
    const dueAt = releaseOf(settings, scheduledFor)
    const row = yield* db.table(scheduledOrders)
      .insert({ ...rest, cartId, customerId, items, currency: cart.currency, scheduledFor, slotStart, dueAt })
    yield* hold(tools, settings, row)
    yield* services.cart.hold(seen, `the scheduled order ${row.id}`)
    return row
  }))
  // A checkout that claimed the cart before the order was there did not refuse it.
  if ((yield* services.cart.get(cartId)).cart.status === "active") return made
  yield* cancel(tools, settings, made.id)
  return yield* new NothingToOrder()
})

/** Moves an order to a time, in the place that it takes there; the one that it had is free. */
const moveTo = Effect.fnUntraced(
  function*(tools: Tools, settings: ScheduleSettings, row: ScheduledOrder, scheduledFor: Date, change: Change) {
    const slotStart = yield* takePlace(tools, settings, scheduledFor, row.id)
    // Repeats that are far ahead hold nothing before their release.
    const isNear = row.everyDays === null || (yield* isWithinHold(settings, scheduledFor))
    if (row.status !== "scheduled" && isNear) yield* hold(tools, settings, row)
    return yield* tools.db.use(scheduling).move("plan", row.id, {
      ...change,
      scheduledFor,
      slotStart,
      dueAt: releaseOf(settings, scheduledFor),
      attempts: 0,
      failureReason: null
    })
  }
)

/** Changes an order until it is placed. 404 for another one's, 409 when the slot is full, 422 for a time that cannot be. */
export const change = Effect.fn("ScheduledOrders.change")(
  function*(tools: Tools, settings: ScheduleSettings, id: string, asked: Change) {
    const row = yield* tools.db.use(scheduling).lock("plan", yield* tools.db.use(own).which(id))
    const changed = meansFor(row, asked)
    const after = { ...row, ...changed }
    const { deliveryAddress, orderType, scheduledFor = row.scheduledFor } = after
    if (changed.scheduledFor !== undefined || changed.repeatUntil !== undefined) {
      yield* requireWindow({ ...after, scheduledFor }, "scheduledFor", "repeatUntil")
    }
    yield* checkAddress({
      orderType,
      deliveryAddress: orderType === "delivery" ? deliveryAddress : changed.deliveryAddress
    })
    if (changed.scheduledFor === undefined && row.status !== "failed") {
      return yield* tools.db.table(scheduledOrders).update(id, changed)
    }
    yield* checkTime(settings, scheduledFor)
    yield* checkHoldTime(settings, scheduledFor)
    return yield* moveTo(tools, settings, row, scheduledFor, changed)
  },
  (work, { db }) => db.transaction(work)
)

/** The next time of an order that repeats, from now on. */
const nextTime = Effect.fnUntraced(function*(
  settings: ScheduleSettings,
  { everyDays, repeatUntil, scheduledFor }: ScheduledOrder
) {
  if (everyDays === null) return yield* new NotRepeated()
  const earliest = DateTime.toDateUtc(DateTime.add(yield* DateTime.now, { minutes: settings.leadMinutes }))
  const next = daysLater(settings, scheduledFor, everyDays, earliest)
  return repeatUntil !== null && next >= repeatUntil ? yield* new LastOne() : next
})

/** How many times of an order that repeats are left out, one after the other, because nothing can be ordered for them. */
const mostLeftOut = 10

/**
 * The next row of an order that repeats, at the first of its times that is open and has a place. Goods that are short are
 * not held for it. Undefined when there is none.
 */
export const repeat = Effect.fn("ScheduledOrders.repeat")(
  function*(tools: Tools, settings: ScheduleSettings, row: ScheduledOrder) {
    const { cartId, currency, customerId, deliveryAddress, everyDays, id, items, notes } = row
    const { orderType, paymentMethodId, pickupLocation, repeatUntil } = row
    const orders = tools.db.table(scheduledOrders)
    const token = yield* orders.secret(id, "paymentMethodToken")
    for (let [tries, last] = [0, row]; tries < mostLeftOut; tries++) {
      const scheduledFor = yield* Effect.orElseSucceed(nextTime(settings, last), () => undefined)
      if (scheduledFor === undefined) return undefined
      const slotStart = yield* Effect.orElseSucceed(takePlace(tools, settings, scheduledFor, null), () => undefined)
      last = { ...last, scheduledFor }
      if (slotStart === undefined) continue
      const dueAt = releaseOf(settings, scheduledFor)
      return yield* orders.insert({
        cartId,
        currency,
        customerId,
        deliveryAddress,
        everyDays,
        items,
        notes,
        orderType,
        paymentMethodId,
        pickupLocation,
        repeatUntil,
        scheduledFor,
        slotStart,
        dueAt,
        ...(token !== null && { paymentMethodToken: Redacted.value(token) })
      })
    }
    return undefined
  }
)

/** Leaves out the next time of an order that repeats. */
export const skip = Effect.fn("ScheduledOrders.skip")(
  function*(tools: Tools, settings: ScheduleSettings, id: string) {
    const row = yield* tools.db.use(scheduling).lock("skip", yield* tools.db.use(own).which(id))
    const next = yield* nextTime(settings, row)
    // It is a repeat that is far ahead now.
    if (settings.holdGoods === "scheduling" && !(yield* isWithinHold(settings, next))) yield* releaseGoods(tools, row)
    return yield* moveTo(tools, settings, row, next, {})
  },
  (work, { db }) => db.transaction(work)
)

/** Stops an order that repeats until it is resumed; its slot is free. */
export const pause = Effect.fn("ScheduledOrders.pause")(
  function*(tools: Tools, settings: ScheduleSettings, id: string) {
    const row = yield* tools.db.use(scheduling).lock("pause", yield* tools.db.use(own).which(id))
    if (row.everyDays === null) return yield* new NotRepeated()
    if (settings.holdGoods === "scheduling") yield* releaseGoods(tools, row)
    return yield* tools.db.use(scheduling).move("pause", id, { dueAt: null, slotStart: null })
  },
  (work, { db }) => db.transaction(work)
)

/** Goes on with an order at its time, or at the next one of its repeats. */
export const resume = Effect.fn("ScheduledOrders.resume")(
  function*(tools: Tools, settings: ScheduleSettings, id: string) {
    const row = yield* tools.db.use(scheduling).lock("resume", yield* tools.db.use(own).which(id))
    const isToCome = yield* Effect.isSuccess(checkTime(settings, row.scheduledFor))
    return yield* moveTo(tools, settings, row, isToCome ? row.scheduledFor : yield* nextTime(settings, row), {})
  },
  (work, { db }) => db.transaction(work)
)

/** Tries to place a failed order again at once, maybe with another means of payment. */
export const retry = Effect.fn("ScheduledOrders.retry")(
  function*(tools: Tools, { expireHours }: ScheduleSettings, id: string, means: typeof Means.Type) {
    const now = yield* DateTime.nowAsDate
    const row = yield* tools.db.use(own).get(id)
    // The next run would let it expire.
    if (row.status === "failed" && row.scheduledFor.getTime() + expireHours * 3_600_000 < now.getTime()) {
      return yield* new Over()
    }
    const change = { ...meansFor(row, means ?? {}), dueAt: now }
    return yield* tools.db.table(scheduledOrders).update(id, change, { status: "failed" })
  }
)

const cancelOne = Effect.fnUntraced(function*(tools: Tools, settings: ScheduleSettings, row: ScheduledOrder) {
  if (settings.holdGoods === "scheduling" && row.status === "scheduled") yield* releaseGoods(tools, row)
  const cancelled = yield* tools.db.use(scheduling).move("cancel", row.id, { dueAt: null })
  yield* announce(tools, "cancelled", cancelled)
  return cancelled
})

/**
 * Cancels an order that is not placed yet, with all its repeats: the next one, and those that have failed. 404 for another
 * one's, 422 once it is placed.
 */
export const cancel = Effect.fn("ScheduledOrders.cancel")(
  function*(tools: Tools, settings: ScheduleSettings, id: string) {
    const { cartId } = yield* tools.db.use(own).get(id)
    const open = { cartId, status: { in: ["scheduled", "paused", "failed"] as const } }
    // In one order, so that two calls for a cart do not wait for each other.
    const rows = yield* tools.db.table(scheduledOrders)
      .list({ or: [{ id }, open] }, { order: ["id"], lock: true })
    yield* tools.db.use(scheduling).lock("cancel", id)
    const cancelled = yield* Effect.forEach(rows, (row) => cancelOne(tools, settings, row))
    yield* freeCart(tools, cartId)
    return cancelled.find((row) => row.id === id) ?? (yield* tools.db.use(own).get(id))
  },
  (work, { db }) => db.transaction(work)
)
