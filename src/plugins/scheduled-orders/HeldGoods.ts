import { DateTime, Effect } from "effect"
import { CurrentActor, holds, invalid } from "stoa/plugin"
import { admin, holdGoods, type ScheduledOrder, type Tools } from "./ScheduledOrder.ts"
import { unitsToCome } from "./ScheduledRepo.ts"
import type { ScheduleSettings } from "./ScheduleSettings.ts"

class TooLongHeld extends invalid(
  "TooLongHeld",
  "scheduledFor",
  (days: number) => `scheduledFor must be within ${days} days, because its goods are held until then.`
) {}
class TooManyHeld extends invalid(
  "TooManyHeld",
  "cartId",
  (most: number, left: number) =>
    `cartId must have at most ${Math.max(left, 0)} units: the orders of a customer to come hold at most ${most}.`
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

/** Holds the goods of an order, as far as its customer may hold so many. */
export const hold = Effect.fnUntraced(function*(tools: Tools, settings: ScheduleSettings, row: ScheduledOrder) {
  if (settings.holdGoods !== "scheduling") return
  if (yield* isBound(settings)) {
    const left = settings.maxHeldUnits - (yield* tools.db.use(unitsToCome)(row.customerId, row.id))
    if (row.items.reduce((sum, { quantity }) => sum + quantity, 0) > left) {
      return yield* new TooManyHeld(settings.maxHeldUnits, left)
    }
  }
  yield* holdGoods(tools, row)
})
