import { Schema, SchemaGetter } from "effect"
import type { Issue } from "../errors/ApiErrors.ts"
import { Text } from "../text/Storable.ts"

const iso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/
const local = /T[\d:.]+$/

/** Whether a text begins with a day of the calendar: JavaScript reads the 31st of February as a day of March. */
export const isDay = (text: string): boolean => {
  const day = text.slice(0, 10)
  const time = new Date(`${day}T00:00:00.000Z`)
  return day >= "0001-01-01" && !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day)
}

const earliest = new Date("0001-01-01T00:00:00.000Z")
const latest = new Date("9999-12-31T23:59:59.999Z")

/** A point in time of a record: ISO 8601 with milliseconds and Z on the wire. */
export const Time = Schema.Date.annotate({ format: "date-time" })

/** A point in time as requests name it: an ISO 8601 date or time; without an offset it is read as UTC (spec §2). */
export const Moment = Schema.String.check(
  Schema.makeFilter((text: string) => !iso.test(text) || isDay(text) || "is no day of the calendar"),
  Schema.isPattern(iso)
).annotate({ format: "date-time" }).pipe(
  Schema.decodeTo(Schema.Date.check(Schema.isBetweenDate({ minimum: earliest, maximum: latest })), {
    // Without a zone a time is UTC: the machine's zone must not decide when a price begins.
    decode: SchemaGetter.transform((text) => new Date(local.test(text) ? `${text}Z` : text)),
    encode: SchemaGetter.transform((time) => time.toISOString())
  })
)

const largestInt4 = 2_147_483_647

/** A number of units, from 1. */
export const Units = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: largestInt4 }))

/** Lower goes first. */
export const Priority = Schema.Int.check(Schema.isBetween({ minimum: -largestInt4, maximum: largestInt4 }))

/** An amount in minor units: an integer from 0 to 2^53 - 1 (contract §0.2). */
export const Amount = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

/** Fields that limit a record to buyers, quantities and times; null is open. Bounds are inclusive. */
export const boundsFields = {
  customerGroupId: Schema.NullOr(Schema.String),
  minQuantity: Schema.NullOr(Schema.Int),
  maxQuantity: Schema.NullOr(Schema.Int),
  validFrom: Schema.NullOr(Time),
  validUntil: Schema.NullOr(Time)
}

/** A field of a request that may be left out or null. */
export const maybe = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))

/** The same fields in a request body. */
export const sentBounds = {
  customerGroupId: maybe(Text),
  minQuantity: maybe(Units),
  maxQuantity: maybe(Units),
  validFrom: maybe(Moment),
  validUntil: maybe(Moment)
}

/** What `sentBounds` decodes to. */
export interface SentBounds {
  readonly customerGroupId?: string | null | undefined
  readonly minQuantity?: number | null | undefined
  readonly maxQuantity?: number | null | undefined
  readonly validFrom?: Date | null | undefined
  readonly validUntil?: Date | null | undefined
}

/** Bounds with every field set. */
export interface Bounds {
  readonly customerGroupId: string | null
  readonly minQuantity: number | null
  readonly maxQuantity: number | null
  readonly validFrom: Date | null
  readonly validUntil: Date | null
}

/** The record's bounds with those of a request applied: absent keeps, null opens. */
export const boundsOver = (sent: SentBounds, before?: Bounds): Bounds => ({
  customerGroupId: over(sent.customerGroupId, before?.customerGroupId ?? null),
  minQuantity: over(sent.minQuantity, before?.minQuantity ?? null),
  maxQuantity: over(sent.maxQuantity, before?.maxQuantity ?? null),
  validFrom: over(sent.validFrom, before?.validFrom ?? null),
  validUntil: over(sent.validUntil, before?.validUntil ?? null)
})

/** A sent value, or the previous one if none was sent. Null is a value. */
export const over = <A>(sent: A | undefined, before: A): A => sent === undefined ? before : sent

/** An issue of a field whose value contradicts another one. */
export const issue = (path: string, message: string): Issue => ({ path, message, code: "invalid" })

/** A time window that ends before it begins would never apply. */
export const windowIssues = (from: Date | null, until: Date | null): ReadonlyArray<Issue> =>
  from !== null && until !== null && until < from ? [issue("validUntil", "must not be before validFrom")] : []

/** Issues of bounds that no value can satisfy. */
export const boundsIssues = ({ maxQuantity, minQuantity, validFrom, validUntil }: Bounds): ReadonlyArray<Issue> => [
  ...(minQuantity !== null && maxQuantity !== null && maxQuantity < minQuantity
    ? [issue("maxQuantity", "must not be below minQuantity")]
    : []),
  ...windowIssues(validFrom, validUntil)
]
