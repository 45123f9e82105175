import { DateTime, Effect, Redacted, Schema } from "effect"
import { Amount, type ChangeOf, conflict, invalid } from "stoa/plugin"
import { hold, isWithinHold } from "./HeldGoods.ts"
import { timesOf } from "./Notices.ts"
import {
  noTimes,
  own,
  releaseGoods,
  repeats,
  type ScheduledOrder,
  scheduledOrders,
  scheduling,
  type Tools
} from "./ScheduledOrder.ts"
import type { ScheduleSettings } from "./ScheduleSettings.ts"
import { takePlace, timeAfter } from "./Slots.ts"

class TooSoon extends invalid("TooSoon", "scheduledFor", "scheduledFor is too soon.") {}
class TooLate extends invalid("TooLate", "scheduledFor", "scheduledFor is too far ahead.") {}
class NotRepeated extends invalid("NotRepeated", "", "The order does not repeat.") {}
class LastOne extends invalid("LastOne", "", "The order does not repeat any more.") {}

export class Over
  extends invalid("TimeOver", "", "The time of the order is over: change its time to schedule it again.")
{}
class OtherPrice
  extends conflict("OtherPrice", "The price of the order is another one by now. Read it and try again.")
{}

/** When an order that was not placed expires. */
export const expiryOf = ({ expireHours }: ScheduleSettings, { scheduledFor }: Pick<ScheduledOrder, "scheduledFor">) =>
  new Date(scheduledFor.getTime() + expireHours * 3_600_000)

/** Refuses a time that is too soon or too far ahead. */
export const checkTime = Effect.fnUntraced(
  function*({ leadMinutes, maxDaysAhead }: ScheduleSettings, scheduledFor: Date) {
    const now = yield* DateTime.now
    if (scheduledFor < DateTime.toDateUtc(DateTime.add(now, { minutes: leadMinutes }))) return yield* new TooSoon()
    if (scheduledFor > DateTime.toDateUtc(DateTime.add(now, { days: maxDaysAhead }))) return yield* new TooLate()
  }
)

/** Moves an order to a time, in the place that it takes there; the one that it had is free. */
export const moveTo = Effect.fnUntraced(
  function*(
    tools: Tools,
    settings: ScheduleSettings,
    row: ScheduledOrder,
    scheduledFor: Date,
    change: ChangeOf<typeof scheduledOrders>
  ) {
    const slotStart = yield* takePlace(tools, settings, scheduledFor, row.id)
    // Repeats that are far ahead hold nothing before their release.
    const isNear = !repeats(row) || (yield* isWithinHold(settings, scheduledFor))
    if (row.status !== "scheduled" && isNear) yield* hold(tools, settings, row)
    return yield* tools.db.use(scheduling).move("plan", row.id, {
      ...timesOf(settings, { ...row, ...change }, scheduledFor),
      ...change,
      slotStart,
      attempts: 0,
      failureReason: null,
      quotedTotal: null
    })
  }
)

/** The next time of an order that repeats, from now on. */
const nextTime = Effect.fnUntraced(function*(settings: ScheduleSettings, row: ScheduledOrder) {
  if (!repeats(row)) return yield* new NotRepeated()
  const earliest = DateTime.toDateUtc(DateTime.add(yield* DateTime.now, { minutes: settings.leadMinutes }))
  const next = timeAfter(settings, row, earliest)
  return row.repeatUntil !== null && next >= row.repeatUntil ? yield* new LastOne() : next
})

/** How many times of an order that repeats are left out, one after the other, because nothing can be ordered for them. */
const mostLeftOut = 10

/**
 * The next row of an order that repeats, at the first of its times that is open and has a place. Goods that are short are
 * not held for it. Undefined when there is none.
 */
export const repeat = Effect.fn("ScheduledOrders.repeat")(
  function*(tools: Tools, settings: ScheduleSettings, row: ScheduledOrder) {
    const { cartId, currency, customerId, dayOfMonth, deliveryAddress, everyDays, everyMonths, id, items } = row
    const {
      agreedTotal,
      locale,
      maxPriceIncreasePercent,
      notes,
      orderType,
      paymentMethodId,
      pickupLocation,
      quotedTotal,
      repeatUntil
    } = row
    const orders = tools.db.table(scheduledOrders)
    const token = yield* orders.secret(id, "paymentMethodToken")
    for (let [tries, last] = [0, row]; tries < mostLeftOut; tries++) {
      const scheduledFor = yield* Effect.orElseSucceed(nextTime(settings, last), () => undefined)
      if (scheduledFor === undefined) return undefined
      const slotStart = yield* Effect.orElseSucceed(takePlace(tools, settings, scheduledFor, null), () => undefined)
      last = { ...last, scheduledFor }
      if (slotStart === undefined) continue
      return yield* orders.insert({
        // What it has cost is what the next one may cost.
        agreedTotal: quotedTotal ?? agreedTotal,
        cartId,
        currency,
        customerId,
        dayOfMonth,
        deliveryAddress,
        everyDays,
        everyMonths,
        items,
        locale,
        maxPriceIncreasePercent,
        notes,
        orderType,
        paymentMethodId,
        pickupLocation,
        repeatUntil,
        ...timesOf(settings, row, scheduledFor),
        slotStart,
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
    if (!repeats(row)) return yield* new NotRepeated()
    if (settings.holdGoods === "scheduling") yield* releaseGoods(tools, row)
    return yield* tools.db.use(scheduling).move("pause", id, { ...noTimes, slotStart: null })
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

/** The price that a customer accepts; 409 when it is no longer that one. */
export const Acceptance = Schema.NullOr(Schema.Struct({ total: Schema.optional(Amount) }))

/**
 * Makes the price that a customer was asked about the agreed one, and goes on with the order: at its time, at once when that
 * has begun, or at the next one of its repeats when it is over.
 */
export const acceptPrice = Effect.fn("ScheduledOrders.acceptPrice")(
  function*(tools: Tools, settings: ScheduleSettings, id: string, asked: typeof Acceptance.Type) {
    const row = yield* tools.db.use(scheduling).lock("accept", yield* tools.db.use(own).which(id))
    if (asked?.total !== undefined && asked.total !== row.quotedTotal) return yield* new OtherPrice()
    const isOver = expiryOf(settings, row) < (yield* DateTime.nowAsDate)
    if (isOver && !repeats(row)) return yield* new Over()
    const scheduledFor = isOver ? yield* nextTime(settings, row) : row.scheduledFor
    // Its customer has seen time and price.
    return yield* moveTo(tools, settings, row, scheduledFor, { agreedTotal: row.quotedTotal, noticeAt: null })
  },
  (work, { db }) => db.transaction(work)
)
