import { Schema, SchemaGetter } from "effect"

const iso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/
const local = /T[\d:.]+$/

/** JavaScript reads the 31st of February as a day of March. */
export const isDay = (text: string): boolean => {
  const day = text.slice(0, 10)
  const time = new Date(`${day}T00:00:00.000Z`)
  return day >= "0001-01-01" && !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day)
}

const earliest = new Date("0001-01-01T00:00:00.000Z")
const latest = new Date("9999-12-31T23:59:59.999Z")

/** ISO 8601 with milliseconds and Z on the wire. */
export const Time = Schema.Date.annotate({ format: "date-time" })

/** An ISO 8601 date or time; UTC without an offset (spec §2). */
export const Moment = Schema.String.check(
  Schema.makeFilter((text: string) => !iso.test(text) || isDay(text) || "is no day of the calendar"),
  Schema.isPattern(iso)
).annotate({ format: "date-time" }).pipe(
  Schema.decodeTo(Schema.Date.check(Schema.isBetweenDate({ minimum: earliest, maximum: latest })), {
    decode: SchemaGetter.transform((text) => new Date(local.test(text) ? `${text}Z` : text)),
    encode: SchemaGetter.transform((time) => time.toISOString())
  })
)
