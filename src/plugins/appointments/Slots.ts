import { closingAt, day, minute, openingAt, type Stretch } from "./LocalTime.ts"

/** Local times of a day: `HH:mm`. */
interface Hours {
  readonly startTime: string
  readonly endTime: string
}

/** From the first moment to the last one, which is not a part of it; milliseconds since 1970. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** When a provider works and what they have to do. */
export interface Agenda {
  /** Of the provider's zone, around the days that are asked for. */
  readonly stretches: ReadonlyArray<Stretch>
  readonly weekly: ReadonlyArray<Hours & { readonly dayOfWeek: number }>
  readonly breaks: ReadonlyArray<Hours & { readonly dayOfWeek: number | null }>
  readonly overrides: ReadonlyArray<
    {
      readonly day: number
      readonly isAvailable: boolean
      readonly startTime: string | null
      readonly endTime: string | null
    }
  >
  /** Other appointments with their buffers, in their order. */
  readonly taken: ReadonlyArray<Span>
}

/** How long a visit takes, in minutes. */
export interface Visit {
  readonly durationMinutes: number
  readonly bufferBeforeMinutes: number
  readonly bufferAfterMinutes: number
}

/** Local days, each the midnight of UTC with its date, and the first and last moment at which a visit may begin. */
export interface Asked {
  readonly from: number
  readonly to: number
  readonly earliest: number
  readonly latest: number
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))

/** An end at 00:00 is that of the day. */
const localOf = ({ endTime, startTime }: Hours) => ({
  start: minutesOf(startTime) * minute,
  end: minutesOf(endTime) * minute || day
})

/** Hours by the day of the week on which they are, in their order. */
const byWeekday = (hours: ReadonlyArray<Hours & { readonly dayOfWeek: number | null }>) =>
  Array.from(
    { length: 7 },
    (_, weekday) =>
      hours.filter(({ dayOfWeek }) => dayOfWeek === null || dayOfWeek === weekday).map(localOf)
        .sort((a, b) => a.start - b.start)
  )

/** 1970 began on a Thursday. */
const weekdayOf = (at: number): number => (((at / day + 4) % 7) + 7) % 7

/** Local hours of every day, with what overrides say in place of the week. */
const hoursByDay = ({ overrides, weekly }: Agenda) => {
  const week = byWeekday(weekly)
  const special = new Map(overrides.map((one) => [one.day, one]))
  return (at: number): ReadonlyArray<Span> => {
    const usual = week[weekdayOf(at)] ?? []
    const override = special.get(at)
    if (override === undefined) return usual
    if (!override.isAvailable) return []
    const { endTime, startTime } = override
    return startTime === null || endTime === null ? usual : [localOf({ startTime, endTime })]
  }
}

/**
 * The free times of a provider for a visit, in their order. Hours are cut into pieces of buffer, visit and buffer from their
 * beginning on; a piece that touches a break or another appointment is not free. A pure function of the agenda.
 */
export const slotsOf = (agenda: Agenda, visit: Visit, { earliest, from, latest, to }: Asked): Array<Span> => {
  const { stretches, taken } = agenda
  const before = visit.bufferBeforeMinutes * minute
  const duration = visit.durationMinutes * minute
  const step = before + duration + visit.bufferAfterMinutes * minute
  const [hoursOf, breaksOf] = [hoursByDay(agenda), byWeekday(agenda.breaks)]
  const slots: Array<Span> = []
  let [next, closed] = [0, -Infinity]
  for (let at = from; at <= to; at += day) {
    const pauses = (breaksOf[weekdayOf(at)] ?? []).map(({ end, start }) => ({
      start: openingAt(stretches, at + start),
      end: closingAt(stretches, at + end)
    }))
    for (const hours of hoursOf(at)) {
      // Where clocks go back, hours that follow one another would meet twice.
      const opens = Math.max(openingAt(stretches, at + hours.start), closed)
      closed = Math.max(closingAt(stretches, at + hours.end), closed)
      for (let start = opens; start + step <= closed; start += step) {
        const end = start + step
        while ((taken[next]?.end ?? Infinity) <= start) next++
        if ((taken[next]?.start ?? Infinity) < end) continue
        if (pauses.some((pause) => pause.start < end && start < pause.end)) continue
        const begins = start + before
        if (begins >= earliest && begins <= latest) slots.push({ start: begins, end: begins + duration })
      }
    }
  }
  return slots
}
