import { DateTime, Effect, Option, Schema } from "effect"
import { unsaid } from "./Storable.ts"
import { LocalTimeZone } from "./Time.ts"

/** IANA name: `Europe/Zurich`. */
export const TimeZone = Schema.String.check(
  Schema.makeFilter((name: string) =>
    /^[A-Za-z]/.test(name) && Option.isSome(DateTime.zoneMakeNamed(name)) ||
    "must be the IANA name of a time zone, such as Europe/Zurich.", { ...unsaid, code: "unknown_value" })
)

/** The last day before an end. */
export const lastDayOf = (end: Date, timeZone: DateTime.TimeZone): string =>
  businessDate(new Date(end.getTime() - 1), timeZone)

/** Today in the local time zone. */
export const today: Effect.Effect<string> = Effect.flatMap(
  LocalTimeZone,
  (zone) => Effect.map(DateTime.nowAsDate, (now) => businessDate(now, zone))
)

/** Local time: `04:00` counts the hours after midnight as the evening before. */
export const DayStart = Schema.String.check(
  Schema.isPattern(/^([01]\d|2[0-3]):[0-5]\d$/, { expected: "a time of day, such as 04:00" })
)

const day = 86_400_000

export const businessDate = (at: Date, timeZone: string | DateTime.TimeZone, start = "00:00"): string => {
  const { day: dayOfMonth, hour, minute, month, year } = DateTime.toParts(DateTime.makeZonedUnsafe(at, { timeZone }))
  const [startHour = 0, startMinute = 0] = start.split(":").map(Number)
  const isBefore = hour * 60 + minute < startHour * 60 + startMinute
  return new Date(Date.UTC(year, month - 1, dayOfMonth) - (isBefore ? day : 0)).toISOString().slice(0, 10)
}
