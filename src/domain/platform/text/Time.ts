import { Context, DateTime, Effect, Schema, SchemaGetter, SchemaTransformation } from "effect"
import { type Issue, ValidationFailed } from "../errors/ApiErrors.ts"
import { issue } from "./Fields.ts"

const iso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/
const offset = /(Z|[+-]\d{2}:?\d{2})$/

/** JavaScript reads the 31st of February as a day of March. */
export const isDay = (text: string): boolean => {
  const day = text.slice(0, 10)
  const time = new Date(`${day}T00:00:00.000Z`)
  return day >= "0001-01-01" && !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day)
}

const earliest = new Date("0001-01-01T00:00:00.000Z")
const latest = new Date("9999-12-31T23:59:59.999Z")

/** The zone of dates, and of times without an offset: the store's, unless a nearer one is provided. */
export const LocalTimeZone = Context.Reference<DateTime.TimeZone>("stoa/domain/platform/text/LocalTimeZone", {
  defaultValue: () => DateTime.zoneMakeNamedUnsafe("UTC")
})

/**
 * The instant of a local time, written as if it were UTC. A time that comes twice is the first one; one that is left
 * out moves on by the hour that is missing.
 */
export const instantOf = (local: Date, timeZone: DateTime.TimeZone): Date =>
  DateTime.toDateUtc(
    DateTime.makeZonedUnsafe(local, { timeZone, adjustForTimeZone: true, disambiguation: "compatible" })
  )

/** The beginning of a day in a zone, or of the day after it. */
export const beginningOf = (day: string, timeZone: DateTime.TimeZone, daysLater: 0 | 1 = 0): Date => {
  const local = new Date(`${day}T00:00:00.000Z`)
  local.setUTCDate(local.getUTCDate() + daysLater)
  const at = instantOf(local, timeZone).getTime()
  return new Date(Math.min(Math.max(at, earliest.getTime()), latest.getTime()))
}

export const isDate = (text: string): boolean => text.length === 10

type Edge = "beginning" | "end"

const isTime = (text: string): boolean => {
  const time = new Date(isDate(text) || offset.test(text) ? text : `${text}Z`)
  return isDay(text) && time >= earliest && time <= latest
}

const timeOf = (text: string, timeZone: DateTime.TimeZone, of: Edge): Date =>
  isDate(text)
    ? beginningOf(text, timeZone, of === "end" ? 1 : 0)
    : offset.test(text)
    ? new Date(text)
    : instantOf(new Date(`${text}Z`), timeZone)

/** The instant that a text means in a zone, of a date its beginning or its end. Undefined for other texts. */
export const readTime = (text: string, timeZone: DateTime.TimeZone, of: Edge): Date | undefined =>
  iso.test(text) && isTime(text) ? timeOf(text, timeZone, of) : undefined

const sentText = (of: Edge) =>
  Schema.String.check(
    Schema.makeFilter((text: string) => !iso.test(text) || isDay(text) || "must be a day of the calendar."),
    Schema.makeFilter((text: string) => !iso.test(text) || !isDay(text) || isTime(text) || "must be a time of a day."),
    Schema.isPattern(iso, {
      expected: "a date or a time in ISO 8601, such as 2026-11-25 or 2026-11-25T09:30:00+01:00"
    })
  ).annotate({
    format: "date-time",
    description: `ISO 8601. A date means its ${of} in the store's time zone; a time without an offset is local to it.`,
    examples: ["2026-11-25T09:30:00+01:00", "2026-11-25"]
  })

const sentTime = (of: Edge) =>
  sentText(of).pipe(
    Schema.decodeTo(Schema.Date, {
      decode: SchemaGetter.transformEffect((text) => Effect.map(LocalTimeZone, (zone) => timeOf(text, zone, of))),
      encode: SchemaGetter.transform((time) => time.toISOString())
    })
  )

/** A time as the wire has it, where it is made of no `Date`. */
export const TimeText = Schema.String.annotate({
  format: "date-time",
  description: "ISO 8601, in UTC with milliseconds.",
  examples: ["2026-11-25T08:30:00.000Z"]
})

/** ISO 8601 with milliseconds and Z on the wire. */
export const Time = Schema.Date.annotate({
  toCodecJson: () => Schema.link<Date>()(TimeText, SchemaTransformation.dateFromString)
})

/** A sent time, or the beginning of a sent date. */
export const Moment = sentTime("beginning")

/** An end, which is exclusive: a sent time, or the end of a sent date. */
export const Until = sentTime("end")

/** The same as they were sent, to be read in a nearer zone than the store's (`timeIn`). */
export const SentMoment = sentText("beginning")
export const SentUntil = sentText("end")

/** Reads a sent text, local to this zone; undefined: to the store's. */
export const timeIn = (timeZone: string | undefined, text: string, of: Edge): Effect.Effect<Date> =>
  Effect.map(
    LocalTimeZone,
    (zone) => timeOf(text, timeZone === undefined ? zone : DateTime.zoneMakeNamedUnsafe(timeZone), of)
  )

type Bound = Date | null | undefined

/** Whether an end is after its beginning; an absent one is open. */
export const isWindow = (from: Bound, until: Bound): boolean =>
  from === null || from === undefined || until === null || until === undefined || until > from

/** Refuses an end that is not after its beginning, by the names of their fields. */
export const windowIssues = <Names extends string>(
  window: { readonly [Name in Names]?: Bound },
  from: Names,
  until: Names
): ReadonlyArray<Issue> =>
  isWindow(window[from], window[until]) ? [] : [issue(until, `${until} must be after ${from}.`)]

/** 422 for an end that is not after its beginning. */
export const requireWindow = <Names extends string>(
  window: { readonly [Name in Names]?: Bound },
  from: Names,
  until: Names
): Effect.Effect<void, ValidationFailed> => {
  const issues = windowIssues(window, from, until)
  return issues.length === 0 ? Effect.void : Effect.fail(ValidationFailed.issues(issues))
}
