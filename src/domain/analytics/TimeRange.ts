import { DateTime } from "effect"
import { instantOf, isDate, isWindow, readTime } from "../platform/text/Time.ts"

/** A range from `from`, inclusive, to before `until`, or through `until`; an undefined end is open. */
export interface TimeRange {
  readonly from: Date | undefined
  readonly until: Date | undefined
  readonly withEnd: boolean
}

export const presetForms = "today, yesterday, this week, last week, this month, last month, this quarter, " +
  "last quarter, this year, last year, last N days, last N weeks, last N months, last N quarters, last N years, " +
  "Q1 2026 (to Q4 of any year), all time"

type Unit = "day" | "week" | "month" | "quarter" | "year"

const at = (year: number, month: number, day: number): Date => new Date(Date.UTC(year, month, day))

const midnight = (moment: Date): Date => at(moment.getUTCFullYear(), moment.getUTCMonth(), moment.getUTCDate())

const beginOf = (moment: Date, unit: Unit): Date => {
  const [year, month] = [moment.getUTCFullYear(), moment.getUTCMonth()]
  if (unit === "day") return midnight(moment)
  if (unit === "week") return shifted(midnight(moment), "day", -((moment.getUTCDay() + 6) % 7))
  if (unit === "month") return at(year, month, 1)
  return at(year, unit === "quarter" ? month - month % 3 : 0, 1)
}

/** Adds units; uses the last day of a month that has no such day. */
const shifted = (moment: Date, unit: Unit, count: number): Date => {
  const [year, month, day] = [moment.getUTCFullYear(), moment.getUTCMonth(), moment.getUTCDate()]
  if (unit === "day") return at(year, month, day + count)
  if (unit === "week") return at(year, month, day + 7 * count)
  const months = month + count * (unit === "month" ? 1 : unit === "quarter" ? 3 : 12)
  return at(year, months, Math.min(day, at(year, months + 1, 0).getUTCDate()))
}

const unitAt = (from: Date, unit: Unit): TimeRange => ({ from, until: shifted(from, unit, 1), withEnd: false })

const isUnit = (text: string | undefined): text is Unit =>
  text === "day" || text === "week" || text === "month" || text === "quarter" || text === "year"

const mostUnits = 1000

/**
 * The range of a preset, in local days of the zone; undefined for an unknown one. `last N units` includes today;
 * `last month` is the previous calendar month.
 */
export const presetRange = (preset: string, now: Date, zone: DateTime.TimeZone): TimeRange | undefined => {
  const local = new Date(now.getTime() + DateTime.zonedOffset(DateTime.makeZonedUnsafe(now, { timeZone: zone })))
  const range = localRange(preset, local)
  return range && {
    from: range.from && instantOf(range.from, zone),
    until: range.until && instantOf(range.until, zone),
    withEnd: false
  }
}

/** Local times are written as if they were UTC. */
const localRange = (preset: string, now: Date): TimeRange | undefined => {
  const text = preset.trim().toLowerCase().replace(/\s+/g, " ")
  if (text === "all time") return { from: undefined, until: undefined, withEnd: false }
  if (text === "today") return unitAt(midnight(now), "day")
  if (text === "yesterday") return unitAt(shifted(midnight(now), "day", -1), "day")
  const quarter = /^q([1-4]) ([1-9]\d{3})$/.exec(text)
  if (quarter !== null) return unitAt(at(Number(quarter[2]), 3 * (Number(quarter[1]) - 1), 1), "quarter")
  const [, which, named] = /^(this|last) (week|month|quarter|year)$/.exec(text) ?? []
  if (isUnit(named)) {
    const begin = beginOf(now, named)
    return unitAt(which === "this" ? begin : shifted(begin, named, -1), named)
  }
  return lastUnits(text, now)
}

const lastUnits = (text: string, now: Date): TimeRange | undefined => {
  const [, count, named] = /^last (\d{1,4}) (day|week|month|quarter|year)s?$/.exec(text) ?? []
  const units = Number(count)
  if (!isUnit(named) || units < 1 || units > mostUnits) return undefined
  const tomorrow = shifted(midnight(now), "day", 1)
  return { from: shifted(tomorrow, named, -units), until: tomorrow, withEnd: false }
}

/** A range between two sent texts; why there is none as a text. An end with a time is in it where `withEnd`. */
export const rangeBetween = (
  from: string,
  to: string,
  zone: DateTime.TimeZone,
  withEnd: boolean
): TimeRange | string => {
  const range = { from: readTime(from, zone, "beginning"), until: readTime(to, zone, "end") }
  if (range.from === undefined || range.until === undefined) return "must be two dates or times in ISO 8601."
  const isIncluded = withEnd && !isDate(to)
  if (isWindow(range.from, range.until)) return { ...range, withEnd: isIncluded }
  return isIncluded && range.until.getTime() === range.from.getTime()
    ? { ...range, withEnd: true }
    : "must have a second date or time that is after the first one."
}
