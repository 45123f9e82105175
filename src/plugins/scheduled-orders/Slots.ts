import { DateTime, Effect, Schema } from "effect"
import { about, conflict, invalid, Moment } from "stoa/plugin"
import { type ScheduledOrder, slots, type Tools } from "./ScheduledOrder.ts"
import { lockSlot, takenSlots } from "./ScheduledRepo.ts"
import type { ScheduleSettings } from "./ScheduleSettings.ts"

class Closed extends invalid("OutsideOpeningHours", "scheduledFor", "scheduledFor must be within the opening hours.") {}
class NoSlot extends invalid("NoSlot", "startsAt", "startsAt must be the beginning of a slot.") {}
class SlotFull extends conflict("SlotFull", "No more orders are taken for this time.") {}

const minute = 60_000
const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

type Zone = Pick<ScheduleSettings, "timezone">

const zoned = ({ timezone }: Zone, at: DateTime.DateTime.Input) => DateTime.makeZonedUnsafe(at, { timeZone: timezone })

/** The opening hours of a day as moments: where clocks change they are shorter or longer than the clock says. */
const windowsOf = (
  { openingHours, timezone }: ScheduleSettings,
  { day, month, year }: Pick<DateTime.DateTime.Parts, "day" | "month" | "year">
) => {
  const weekDay = new Date(Date.UTC(year, month - 1, day)).getUTCDay()
  const at = (minutes: number) =>
    DateTime.makeZonedUnsafe(
      { year, month, day, hour: Math.floor(minutes / 60), minute: minutes % 60 },
      { timeZone: timezone, adjustForTimeZone: true }
    ).epochMilliseconds
  if (openingHours.length === 0) return [{ from: at(0), to: at(1_440) }]
  return openingHours.filter(({ dayOfWeek }) => dayOfWeek === weekDay).map(({ from, to }) => ({
    from: at(minutesOf(from)),
    to: at(to === "00:00" ? 1_440 : minutesOf(to))
  }))
}

/** The beginning of the slot that a moment is in, without slots the moment; undefined while it is closed. */
export const slotOf = (settings: ScheduleSettings, at: Date): Date | undefined => {
  const now = at.getTime()
  const open = windowsOf(settings, DateTime.toParts(zoned(settings, at))).find(({ from, to }) =>
    from <= now && now < to
  )
  if (open === undefined || settings.slotMinutes === 0) return open && at
  return new Date(now - (now - open.from) % (settings.slotMinutes * minute))
}

/**
 * Takes a place at a time and gives the beginning of its slot, null without slots. The slot is locked until the caller's
 * transaction ends, so that no two orders take its last place. 422 while it is closed, 409 when it is full.
 */
export const takePlace = Effect.fn("Slots.take")(
  function*({ db }: Pick<Tools, "db">, settings: ScheduleSettings, at: Date, without: string | null) {
    const start = slotOf(settings, at)
    if (start === undefined) return yield* new Closed()
    if (settings.slotMinutes === 0) return null
    const capacity = yield* db.use(lockSlot)(start, settings.slotCapacity)
    const [slot] = yield* db.use(takenSlots)([start], without)
    return (slot?.taken ?? 0) < capacity ? start : yield* new SlotFull()
  }
)

type Rhythm = Pick<ScheduledOrder, "dayOfMonth" | "everyDays" | "everyMonths">

/** Moves a time of the clock on the wall by `n` times its days, or by months to their day or their last one. */
const moved = (at: DateTime.Zoned, n: number, { dayOfMonth, everyDays, everyMonths }: Rhythm) =>
  everyDays !== null
    ? DateTime.add(at, { days: n * everyDays })
    : DateTime.mutate(at, (date) => {
      // Day 0 is the last one of the month before.
      date.setUTCMonth(date.getUTCMonth() + n * (everyMonths ?? 1) + 1, 0)
      date.setUTCDate(Math.min(dayOfMonth ?? 31, date.getUTCDate()))
    })

/** The next time of an order that repeats, by the clock on the wall, from `earliest` on. */
export const timeAfter = (
  zone: Zone,
  { scheduledFor, ...rhythm }: Rhythm & Pick<ScheduledOrder, "scheduledFor">,
  earliest: Date
): Date => {
  const first = zoned(zone, scheduledFor)
  let next = scheduledFor
  // From the first on: a day without that time of the clock must not move those that follow.
  for (let n = 1; n === 1 || next < earliest; n++) next = DateTime.toDateUtc(moved(first, n, rhythm))
  return next
}

/** The day of the month of an order that repeats by months. One of the 31st stays so where it comes on the 28th. */
export const dayOfMonthOf = (
  zone: Zone,
  { everyMonths = null }: { readonly everyMonths?: number | null | undefined },
  scheduledFor: Date,
  before?: Pick<ScheduledOrder, "dayOfMonth" | "scheduledFor">
): number | null => {
  if (everyMonths === null) return null
  const dayOf = (at: Date) => DateTime.formatIsoDate(zoned(zone, at))
  const isSameDay = before !== undefined && dayOf(before.scheduledFor) === dayOf(scheduledFor)
  return (isSameDay ? before.dayOfMonth : null) ?? DateTime.toParts(zoned(zone, scheduledFor)).day
}

/** Says how many orders a slot takes. 422 for what is none, which would have no effect. */
export const setCapacity = Effect.fn("Slots.setCapacity")(
  function*(
    { db }: Pick<Tools, "db">,
    settings: ScheduleSettings,
    slot: { readonly startsAt: Date; readonly capacity: number }
  ) {
    const start = settings.slotMinutes === 0 ? undefined : slotOf(settings, slot.startsAt)
    if (start?.getTime() !== slot.startsAt.getTime()) return yield* new NoSlot()
    return (yield* db.table(slots).upsert(slot, ["startsAt"])).row
  }
)

/** A slot of a day, and how many orders it still takes. */
export const Slot = Schema.Struct({
  startsAt: Moment,
  endsAt: Moment,
  capacity: Schema.Int.pipe(about("Most orders of the slot.")),
  taken: Schema.Int.pipe(about("Orders that were scheduled for it.")),
  available: Schema.Int.pipe(about("Orders that it still takes."))
}).annotate({ identifier: "ScheduledOrderSlot" })

/** The slots of a day of the store's time zone. Two statements; none without slots. */
export const slotsOn = Effect.fn("Slots.on")(
  function*({ db }: Pick<Tools, "db">, settings: ScheduleSettings, date: string) {
    const { slotCapacity, slotMinutes } = settings
    const [year = 0, month = 1, day = 1] = date.split("-").map(Number)
    const length = slotMinutes * minute
    const all = slotMinutes === 0 ?
      [] :
      windowsOf(settings, { year, month, day }).flatMap(({ from, to }) =>
        Array.from({ length: Math.ceil((to - from) / length) }, (_, n) => ({
          startsAt: new Date(from + n * length),
          endsAt: new Date(Math.min(to, from + (n + 1) * length))
        }))
      )
    const found = yield* db.use(takenSlots)(all.map(({ startsAt }) => startsAt), null)
    return all.map(({ endsAt, startsAt }): typeof Slot.Type => {
      const slot = found.find((one) => one.startsAt.getTime() === startsAt.getTime())
      const [capacity, taken] = [slot?.capacity ?? slotCapacity, slot?.taken ?? 0]
      return { startsAt, endsAt, capacity, taken, available: Math.max(0, capacity - taken) }
    })
  }
)
