import { closingAt, day, minute, openingAt, stepAt, type Stretch } from "./LocalTime.ts"

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

/** How long a visit takes, in minutes, and at which steps of an hour it may begin. */
export interface Visit {
  readonly startStepMinutes: number | null
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

/** A loop, because a year of many providers asks this hundreds of thousands of times. */
const touches = (spans: ReadonlyArray<Span>, start: number, end: number): boolean => {
  for (const span of spans) if (span.start < end && start < span.end) return true
  return false
}

/**
 * Calls `found` with the beginning of each free time of a provider for a visit, in their order. Hours are cut into pieces of
 * buffer, visit and buffer from their beginning on, or have one at each step; a piece that touches a break or another
 * appointment is not free. A pure function of the agenda.
 */
export const eachSlot = (
  agenda: Agenda,
  visit: Visit,
  { earliest, from, latest, to }: Asked,
  found: (start: number) => void
): void => {
  const { stretches, taken } = agenda
  const before = visit.bufferBeforeMinutes * minute
  const length = before + (visit.durationMinutes + visit.bufferAfterMinutes) * minute
  const { startStepMinutes: step } = visit
  const pieceFrom = step === null ? (at: number) => at : (at: number) => stepAt(stretches, at + before, step) - before
  const [hoursOf, breaksOf] = [hoursByDay(agenda), byWeekday(agenda.breaks)]
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
      for (
        let start = pieceFrom(opens);
        start + length <= closed;
        start = pieceFrom(start + (step === null ? length : minute))
      ) {
        const end = start + length
        while ((taken[next]?.end ?? Infinity) <= start) next++
        if ((taken[next]?.start ?? Infinity) < end) continue
        if (pauses.length > 0 && touches(pauses, start, end)) continue
        const begins = start + before
        if (begins >= earliest && begins <= latest) found(begins)
      }
    }
  }
}

/** The free times of a provider for a visit, in their order. */
export const slotsOf = (agenda: Agenda, visit: Visit, asked: Asked): Array<Span> => {
  const slots: Array<Span> = []
  const duration = visit.durationMinutes * minute
  eachSlot(agenda, visit, asked, (start) => void slots.push({ start, end: start + duration }))
  return slots
}

/**
 * Free times of several providers together, in their order, with how many of them are free. A year of 50 providers has 200,000 of
 * them, so they are counted by the minute at which they begin, in place of an object for each.
 */
export const mergedSlots = (
  offers: ReadonlyArray<{ readonly agenda: Agenda; readonly visit: Visit }>,
  asked: Asked
): ReadonlyArray<Span & { readonly providers: number }> => {
  const origin = asked.from - 2 * day
  const minutes = Math.max(0, (asked.to - asked.from) / minute) + 5 * 1_440
  const byDuration = Map.groupBy(offers, ({ visit }) => visit.durationMinutes)
  return [...byDuration].flatMap(([durationMinutes, same]) => {
    const counts = new Uint16Array(minutes)
    for (const { agenda, visit } of same) {
      eachSlot(agenda, visit, asked, (start) => {
        const at = (start - origin) / minute
        counts[at] = (counts[at] ?? 0) + 1
      })
    }
    const slots: Array<Span & { readonly providers: number }> = []
    counts.forEach((providers, at) => {
      const start = origin + at * minute
      if (providers > 0) slots.push({ start, end: start + durationMinutes * minute, providers })
    })
    return slots
  }).sort((a, b) => a.start - b.start || a.end - b.end)
}
