import { Schema } from "effect"
import { money } from "../../../domain/platform/hints/Hints.ts"
import { CustomerId, OrderId, Uuid, WarehouseId } from "../../../domain/platform/ids/Id.ts"
import { TimeZone } from "../../../domain/platform/text/BusinessDate.ts"
import { Email } from "../../../domain/platform/text/Email.ts"
import {
  FreeText,
  objectUpTo,
  ofForm,
  ShopperObject,
  Text,
  unsaid,
  upToBytes
} from "../../../domain/platform/text/Storable.ts"
import { isDay, Moment, Time, Until } from "../../../domain/platform/text/Time.ts"
import { Column, type CoreRecord, plain, SecretColumn } from "./Column.ts"

const anyText = new Column(Text, plain("text"))

/**
 * A text of 1 to 255 characters, `text.upTo(20)` of fewer, without the null character, which PostgreSQL cannot keep.
 */
export const text = Object.assign(anyText, {
  upTo: (maximum: number) => new Column(Text.check(Schema.isMaxLength(maximum)), anyText.facts)
})

/** A text of up to 10,000 characters, empty included, without an index: a description, a reason, a file URL. */
export const longText = new Column(FreeText.check(Schema.isMaxLength(10_000)), plain("text"))

/** An e-mail address, as the complete service takes and stores it; a row that is older keeps what it has. */
export const email = new Column(Schema.String, plain("text"), Email)

/** One of these words; the database refuses others. */
export const oneOf = <const Words extends readonly [string, ...ReadonlyArray<string>]>(words: Words) =>
  new Column(Schema.Literals(words), plain("text", { among: words }))

/** A whole number between the limits of four bytes, or closer ones, which the database checks too. */
export const integer = new Column(
  Schema.Int.check(Schema.isBetween({ minimum: -2_147_483_648, maximum: 2_147_483_647 })),
  plain("int4")
)

/** A whole number from `minimum` to `maximum`. */
export const integerBetween = (minimum: number, maximum: number) =>
  new Column(Schema.Int.check(Schema.isBetween({ minimum, maximum })), plain("int4", { bounds: [minimum, maximum] }))

/** An amount in minor units of some currency, also below zero; never a fraction. */
export const amount = new Column(
  Schema.Int.check(Schema.isBetween({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }))
    .annotate(money),
  plain("int8")
)

export const boolean = new Column(Schema.Boolean, plain("bool"))

/** An id of a row of the plugin's (`references`). */
export const uuid = new Column(Uuid, plain("uuid"))

/** Kinds of records that an organization has few of: rows are counted by their ids. */
const fewRecords: ReadonlySet<unknown> = new Set([WarehouseId])

/** Ids by which rows are about a customer (`personal`). */
const people = new Map<unknown, CoreRecord>([[CustomerId, "customer"], [OrderId, "order"]])

/** An id of a record of the core: `idOf(OrderId)`. */
export const idOf = <Id extends string>(id: Schema.Codec<Id, string>) =>
  new Column(id, plain("uuid", { isFew: fewRecords.has(id), record: people.get(id) }))

const moment = new Column(Time, plain("timestamptz"), Moment)

/**
 * A moment: a `Date` in code, ISO 8601 with milliseconds and Z in the API. A date that is sent is its beginning, of
 * `timestamp.until` its end.
 */
export const timestamp = Object.assign(moment, { until: new Column(Time, moment.facts, Until) })

const jsonUpTo = (bytes: number) => new Column(objectUpTo(bytes), plain("jsonb"))

/** Any JSON object of up to 16 kB and 100 keys, as much as shoppers may send; `json.upTo(bytes)` has another limit. */
export const json = Object.assign(new Column(ShopperObject, plain("jsonb")), { upTo: jsonUpTo })

/**
 * JSON of this shape, of up to so many bytes where a request names it. Rows are read without decoding, because only this
 * schema writes them.
 */
export const jsonOf = <A, E>(schema: Schema.Codec<A, E>, bytes: number) =>
  new Column(schema, plain("jsonb"), schema.check(upToBytes(bytes)))

/**
 * An exact number of at most `precision` digits, `scale` of them after the point: a text in code and in the API, such as
 * "12.500" of `decimal(12, 3)`. A request with more digits is refused; what code gives the database rounds to the scale.
 */
export const decimal = (precision: number, scale: number) => {
  const whole = precision - scale
  const form = new RegExp(`^-?${whole === 0 ? "0" : `\\d{1,${whole}}`}${scale === 0 ? "" : `(\\.\\d{1,${scale}})?`}$`)
  return new Column(
    Schema.String.annotate({
      format: "decimal",
      examples: [`${whole === 0 ? "0" : "1"}${scale === 0 ? "" : `.${"5".padEnd(scale, "0")}`}`]
    }).check(ofForm(form, `a decimal of ${whole} digits before and ${scale} after the point`)),
    plain("numeric", { digits: [precision, scale] })
  )
}

/** A day without a time or a zone: "2026-11-25" in code and in the API. */
export const date = new Column(
  Schema.String.annotate({ format: "date", examples: ["2026-11-25"] })
    .check(ofForm(/^\d{4}-\d{2}-\d{2}$/, "a day, such as 2026-11-25"))
    .check(Schema.makeFilter((day: string) => isDay(day) || "must be a day of the calendar.", unsaid)),
  plain("date")
)

const clock = /^([01][0-9]|2[0-3]):[0-5][0-9]$/

/** A time of a day, to the minute and without a zone: "09:30", from "00:00" to "23:59". */
export const timeOfDay = new Column(
  Schema.String.annotate({ examples: ["09:30"] }).check(ofForm(clock, "a time of day, such as 09:30")),
  plain("text", { form: clock.source })
)

/** The IANA name of a time zone: `Europe/Zurich`. */
export const timeZone = new Column(TimeZone.annotate({ examples: ["Europe/Zurich"] }), plain("text"))

const listed: ReadonlyArray<string> = ["text", "uuid", "date", "int4"]

const longestList = 1000

/** A list of up to 1000 texts, words (`list(oneOf([…]))`), ids, days or whole numbers, in their order. */
export const list = <A, E>({ facts, schema }: Column<A, E, true>) => {
  const { among, bounds, kind } = facts
  if (!listed.includes(kind) || facts.isSecret) throw new Error(`A column of ${kind} cannot be a list.`)
  return new Column(
    Schema.Array(schema).check(Schema.isMaxLength(longestList)),
    plain(kind, { isList: true, among, bounds })
  )
}

/**
 * A text of up to 10,000 characters that is encrypted in the database with the deployment's secrets key: a token, a
 * password of another service. No row, change log or filter has it; `db.table(t).secret(id, column)` reads it.
 */
export const secret = new SecretColumn<string>(
  Schema.String.annotate({ format: "password" }).check(Schema.isBetweenLength(1, 10_000)),
  plain("text", { isSecret: true })
)
