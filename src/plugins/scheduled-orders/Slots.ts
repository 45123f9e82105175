import { DateTime, Effect, Schema } from "effect"
import { conflict, invalid, Moment } from "stoa/plugin"
import type { Tools } from "./ScheduledOrder.ts"
import { lockSlot, takenSlots } from "./ScheduledRepo.ts"
import type { ScheduleSettings } from "./ScheduleSettings.ts"

class Closed extends invalid("Closed", "scheduledFor", "is outside of the opening hours") {}
class SlotFull extends conflict("SlotFull", "No more orders are taken for this time.") {}

const minute = 60_000
const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

const zoned = ({ timezone }: ScheduleSettings, at: DateTime.DateTime.Input) =>
  DateTime.makeZonedUnsafe(at, { timeZone: timezone })

/** The opening hours of a day of the week, in minutes of that day. */
const windowsOf = ({ openingHours }: ScheduleSettings, weekDay: number) =>
  openingHours.length === 0
    ? [{ from: 0, to: 1_440 }]
    : openingHours.filter(({ dayOfWeek }) => dayOfWeek === weekDay).map(({ from, to }) => ({
      from: minutesOf(from),
      to: to === "00:00" ? 1_440 : minutesOf(to)
    }))

/** The beginning of the slot that a moment is in, without slots the moment; undefined while it is closed. */
export const slotOf = (settings: ScheduleSettings, at: Date): Date | undefined => {
  const { hour, minute: past, weekDay } = DateTime.toParts(zoned(settings, at))
  const now = hour * 60 + past
  const open = windowsOf(settings, weekDay).find(({ from, to }) => from <= now && now < to)
  if (open === undefined || settings.slotMinutes === 0) return open && at
  const since = ((now - open.from) % settings.slotMinutes) * minute + at.getTime() % minute
  return new Date(at.getTime() - since)
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
    const capacity = yield* lockSlot(db, start, settings.slotCapacity)
    const [slot] = yield* takenSlots(db, [start], without)
    return (slot?.taken ?? 0) < capacity ? start : yield* new SlotFull()
  }
)

/** The same time some days later, by the clock on the wall, from `earliest` on. */
export const daysLater = (settings: ScheduleSettings, from: Date, days: number, earliest: Date): Date => {
  let next = from
  do next = DateTime.toDateUtc(DateTime.add(zoned(settings, next), { days }))
  while (next < earliest)
  return next
}

/** A slot of a day, and how many orders it still takes. */
export const Slot = Schema.Struct({
  startsAt: Moment,
  endsAt: Moment,
  capacity: Schema.Int,
  taken: Schema.Int,
  available: Schema.Int
}).annotate({ identifier: "ScheduledOrderSlot" })

/** The slots of a day of the store's time zone. Two statements; none without slots. */
export const slotsOn = Effect.fn("Slots.on")(
  function*({ db }: Pick<Tools, "db">, settings: ScheduleSettings, date: string) {
    const { slotCapacity, slotMinutes, timezone } = settings
    const [year = 0, month = 1, day = 1] = date.split("-").map(Number)
    const at = (minutes: number) =>
      DateTime.toDateUtc(DateTime.makeZonedUnsafe(
        { year, month, day, hour: Math.floor(minutes / 60), minute: minutes % 60 },
        { timeZone: timezone, adjustForTimeZone: true }
      ))
    const weekDay = new Date(Date.UTC(year, month - 1, day)).getUTCDay()
    const starts = slotMinutes === 0 ? [] : windowsOf(settings, weekDay).flatMap(({ from, to }) => {
      const [first, end] = [at(from).getTime(), at(to).getTime()]
      const count = Math.ceil((end - first) / slotMinutes / minute)
      return Array.from({ length: count }, (_, n) => new Date(first + n * slotMinutes * minute))
    })
    const found = yield* takenSlots(db, starts, null)
    return starts.map((startsAt): typeof Slot.Type => {
      const slot = found.find((one) => one.startsAt.getTime() === startsAt.getTime())
      const [capacity, taken] = [slot?.capacity ?? slotCapacity, slot?.taken ?? 0]
      const endsAt = new Date(startsAt.getTime() + slotMinutes * minute)
      return { startsAt, endsAt, capacity, taken, available: Math.max(0, capacity - taken) }
    })
  }
)
