import { DateTime, Effect } from "effect"
import { CurrentActor, holds, invalid } from "stoa/plugin"
import { admin, moveGoods, repeats, type ScheduledOrder, type Tools } from "./ScheduledOrder.ts"
import { unitsToCome } from "./ScheduledRepo.ts"
import type { ScheduleSettings } from "./ScheduleSettings.ts"

class TooLongHeld extends invalid(
  "TooLongHeld",
  "scheduledFor",
  (days: number) => `scheduledFor must be within ${days} days, because its goods are held until then.`
) {}
class TooManyHeld extends invalid(
  "TooManyHeld",
  (_most: number, _left: number, field: string) => field,
  (most: number, left: number, field: string) =>
    `${field} must have at most ${Math.max(left, 0)} units: the orders of a customer to come hold at most ${most}.`
) {}

/** Held goods are not paid for: only staff holds any number for any time. */
const isBound = (settings: ScheduleSettings) =>
  Effect.map(CurrentActor, (actor) => settings.holdGoods === "scheduling" && !holds(actor, admin))

/** Whether goods may be held until then. */
export const isWithinHold = ({ maxHoldDays }: ScheduleSettings, scheduledFor: Date) =>
  Effect.map(DateTime.now, (now) => scheduledFor <= DateTime.toDateUtc(DateTime.add(now, { days: maxHoldDays })))

/** Refuses a time that is too far ahead for goods that are held until then. */
export const checkHoldTime = Effect.fnUntraced(function*(settings: ScheduleSettings, scheduledFor: Date) {
  if (!(yield* isBound(settings)) || (yield* isWithinHold(settings, scheduledFor))) return
  return yield* new TooLongHeld(settings.maxHoldDays)
})

/** Refuses more units than a customer may hold. */
const checkUnits = Effect.fnUntraced(
  function*(tools: Tools, settings: ScheduleSettings, { customerId, id, items }: ScheduledOrder, field: string) {
    if (!(yield* isBound(settings))) return
    const left = settings.maxHeldUnits - (yield* tools.db.use(unitsToCome)(customerId, id))
    if (items.reduce((sum, { quantity }) => sum + quantity, 0) > left) {
      return yield* new TooManyHeld(settings.maxHeldUnits, left, field)
    }
  }
)

/** Holds the goods of an order, as far as its customer may hold so many. */
export const hold = Effect.fnUntraced(function*(tools: Tools, settings: ScheduleSettings, row: ScheduledOrder) {
  if (settings.holdGoods !== "scheduling") return
  yield* checkUnits(tools, settings, row, "cartId")
  yield* moveGoods(tools, row.id, [], row.items)
})

/** Holds other items instead of those that an order has. A repeat that is far ahead holds none before its release. */
export const holdInstead = Effect.fnUntraced(
  function*(tools: Tools, settings: ScheduleSettings, row: ScheduledOrder, items: ScheduledOrder["items"]) {
    if (settings.holdGoods !== "scheduling") return
    if (!repeats(row)) yield* checkHoldTime(settings, row.scheduledFor)
    const isNear = !repeats(row) || (yield* isWithinHold(settings, row.scheduledFor))
    if (isNear) yield* checkUnits(tools, settings, { ...row, items }, "items")
    yield* moveGoods(tools, row.id, row.items, isNear ? items : [])
  }
)
