import { Schema, SchemaTransformation } from "effect"

const iso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/

/** A time without an offset is in UTC, in any time zone of the server. */
const inUtc = (text: string): string => /T/.test(text) && !/(Z|[+-]\d{2}:?\d{2})$/.test(text) ? `${text}Z` : text

const isMoment = (text: string): boolean => iso.test(text) && !Number.isNaN(Date.parse(inUtc(text)))

/** A day or a time of the query, ISO 8601; anything else is 422. */
export const Moment = Schema.String.check(
  Schema.makeFilter((text: string) => isMoment(text) || "must be a date or a time in ISO 8601")
).pipe(
  Schema.decodeTo(
    Schema.Date,
    SchemaTransformation.transform({ decode: (text) => new Date(inUtc(text)), encode: (date) => date.toISOString() })
  )
)
