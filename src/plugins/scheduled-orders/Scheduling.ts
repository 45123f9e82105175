import { DateTime, Effect, Schema } from "effect"
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
import { checkHoldTime, hold } from "./HeldGoods.ts"
import { firstTimesOf, timesOf } from "./Notices.ts"
import { agreedTotalOf, requireSame } from "./Prices.ts"
import { checkTime, expiryOf, moveTo, Over } from "./Repeats.ts"
import {
  admin,
  announce,
  freeCart,
  isGuarded,
  itemsOf,
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
import { dayOfMonthOf, takePlace } from "./Slots.ts"

class NotForOthers extends forbidden("NotForOthers", `Permission '${admin}' is required to schedule for others.`) {}
class CustomerMissing
  extends invalid("CustomerMissing", "customerId", "customerId is required of callers without a profile.")
{}
class ForeignCart extends invalid("ForeignCart", "cartId", "cartId must be a cart of the customer.") {}
class NothingToOrder extends invalid("NothingToOrder", "cartId", "cartId must be an active cart with items.") {}
class TwoRhythms extends invalid(
  "TwoRhythms",
  "everyMonths",
  "everyMonths must be null when everyDays is set: an order repeats by days or by months."
) {}
class NoAddress extends invalid("NoAddress", "deliveryAddress", "deliveryAddress is required for a delivery.") {}
class NoDelivery
  extends invalid("NoDelivery", "deliveryAddress", "deliveryAddress is for deliveries: set orderType to delivery.")
{}
const repeating = ["everyDays", "everyMonths", "repeatUntil", "maxPriceIncreasePercent"] as const
const details = ["orderType", "pickupLocation", "deliveryAddress", "notes", ...repeating] as const

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

/** Staff names the customer; others schedule for themselves. */
const customerFor = Effect.fnUntraced(function*({ services }: Tools, actor: Actor, named: CustomerId | undefined) {
  if (holds(actor, admin)) {
    if (named !== undefined) return named
    if (!isSignedIn(actor)) return yield* new CustomerMissing()
  } else if (!isSignedIn(actor)) return yield* Unauthorized.of()
  const { id } = yield* services.customers.ownProfile
  return named === undefined || named === id ? id : yield* new NotForOthers()
})

/** What is picked up has no shipping costs, so it is sent nowhere. */
const checkAddress = ({ deliveryAddress, orderType }: Pick<Change, "deliveryAddress" | "orderType">) => {
  const isDelivery = orderType === "delivery"
  if (isDelivery && !deliveryAddress) return Effect.fail(new NoAddress())
  return deliveryAddress && !isDelivery ? Effect.fail(new NoDelivery()) : Effect.void
}

const checkRhythm = ({ everyDays = null, everyMonths = null }: Pick<Change, "everyDays" | "everyMonths">) =>
  everyDays !== null && everyMonths !== null ? Effect.fail(new TwoRhythms()) : Effect.void

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
  yield* checkRhythm(rest)
  const seen = yield* services.cart.get(cartId)
  const { cart, lines } = seen
  if (cart.customerId !== null && cart.customerId !== customerId) return yield* new ForeignCart()
  if (cart.status !== "active" || lines.length === 0) return yield* new NothingToOrder()
  const { maxPriceIncreasePercent = repeats(rest) ? settings.maxPriceIncreasePercent : null } = rest
  const { deliveryAddress = null, orderType = "pickup", pickupLocation = null } = rest
  const order = {
    ...rest,
    customerId,
    items: itemsOf(lines),
    currency: cart.currency,
    deliveryAddress,
    orderType,
    pickupLocation,
    maxPriceIncreasePercent
  }
  const agreedTotal = yield* agreedTotalOf(tools, { ...order, scheduledFor })
  const made = yield* db.transaction(Effect.gen(function*() {
    const slotStart = yield* takePlace(tools, settings, scheduledFor, null)
    const row = yield* db.table(scheduledOrders).insert({
      ...order,
      ...yield* firstTimesOf(settings, rest, scheduledFor),
      agreedTotal,
      dayOfMonth: dayOfMonthOf(settings, rest, scheduledFor),
      cartId,
      locale: seen.choices.locale,
      slotStart
    })
    yield* hold(tools, settings, row)
    yield* services.cart.hold(seen, `the scheduled order ${row.id}`)
    return row
  }))
  // A checkout that claimed the cart before the order was there did not refuse it.
  if ((yield* services.cart.get(cartId)).cart.status === "active") return made
  yield* cancel(tools, settings, made.id)
  return yield* new NothingToOrder()
})

/** The total that a change makes the agreed one: that of another address, or of a guard that is new. */
const agreedWith = (tools: Tools, seen: ScheduledOrder, asked: Change) => {
  const { deliveryAddress, maxPriceIncreasePercent, orderType } = asked
  const isPriced = deliveryAddress !== undefined || orderType !== undefined ||
    maxPriceIncreasePercent !== undefined && !isGuarded(seen)
  // What waits for its customer keeps the price that they know.
  if (!isPriced || seen.status === "price_review") return Effect.undefined
  return agreedTotalOf(tools, {
    ...seen,
    deliveryAddress: deliveryAddress === undefined ? seen.deliveryAddress : deliveryAddress,
    orderType: orderType ?? seen.orderType,
    maxPriceIncreasePercent: maxPriceIncreasePercent === undefined
      ? seen.maxPriceIncreasePercent
      : maxPriceIncreasePercent
  })
}

/** Changes an order until it is placed. 404 for another one's, 409 when the slot is full, 422 for a time that cannot be. */
export const change = Effect.fn("ScheduledOrders.change")(
  function*(tools: Tools, settings: ScheduleSettings, id: string, asked: Change) {
    const seen = yield* tools.db.use(own).get(id)
    const agreedTotal = yield* agreedWith(tools, seen, asked)
    return yield* tools.db.transaction(changeRow(tools, settings, seen, { ...asked, agreedTotal }))
  }
)

const changeRow = Effect.fnUntraced(
  function*(
    tools: Tools,
    settings: ScheduleSettings,
    seen: ScheduledOrder,
    asked: Change & { readonly agreedTotal: number | undefined }
  ) {
    const { id } = seen
    const row = yield* tools.db.use(scheduling).lock("plan", id)
    if (asked.agreedTotal !== undefined) yield* requireSame(seen, row)
    const wanted = { ...row, ...asked }
    yield* checkRhythm(wanted)
    const { deliveryAddress, orderType, scheduledFor = row.scheduledFor } = wanted
    const dayOfMonth = dayOfMonthOf(settings, wanted, scheduledFor, row)
    const changed = { ...meansFor(row, asked), dayOfMonth }
    const after = { ...row, ...changed }
    if (changed.scheduledFor !== undefined || changed.repeatUntil !== undefined) {
      yield* requireWindow({ ...after, scheduledFor }, "scheduledFor", "repeatUntil")
    }
    yield* checkAddress({
      orderType,
      deliveryAddress: orderType === "delivery" ? deliveryAddress : changed.deliveryAddress
    })
    if (changed.scheduledFor === undefined && row.status !== "failed") {
      const isRhythm = changed.everyDays !== undefined || changed.everyMonths !== undefined
      const notice = isRhythm && { noticeAt: timesOf(settings, after, scheduledFor).noticeAt }
      return yield* tools.db.table(scheduledOrders).update(id, { ...changed, ...notice })
    }
    yield* checkTime(settings, scheduledFor)
    yield* checkHoldTime(settings, scheduledFor)
    return yield* moveTo(tools, settings, row, scheduledFor, changed)
  }
)

/** Tries to place a failed order again at once, maybe with another means of payment. */
export const retry = Effect.fn("ScheduledOrders.retry")(
  function*(tools: Tools, settings: ScheduleSettings, id: string, means: typeof Means.Type) {
    const now = yield* DateTime.nowAsDate
    const row = yield* tools.db.use(own).get(id)
    // The next run would let it expire.
    if (row.status === "failed" && expiryOf(settings, row) < now) return yield* new Over()
    const change = { ...meansFor(row, means ?? {}), dueAt: now }
    return yield* tools.db.table(scheduledOrders).update(id, change, { status: "failed" })
  }
)

const cancelOne = Effect.fnUntraced(function*(tools: Tools, settings: ScheduleSettings, row: ScheduledOrder) {
  if (settings.holdGoods === "scheduling" && row.status === "scheduled") yield* releaseGoods(tools, row)
  const cancelled = yield* tools.db.use(scheduling).move("cancel", row.id, noTimes)
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
    // One that is placed now has no next one: with a guard of its price that is made only once it has ended.
    const repeatUntil = yield* DateTime.nowAsDate
    yield* tools.db.table(scheduledOrders).updateMany({
      cartId,
      status: "processing",
      maxPriceIncreasePercent: { not: null }
    }, { repeatUntil })
    const open = { cartId, status: { in: ["scheduled", "paused", "price_review", "failed"] as const } }
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
