import { Schema, Struct } from "effect"
import type { Answer } from "./ShopServer.ts"

/** An error of the emulated WooCommerce, in its shape. */
export class WooRefusal extends Error {
  readonly answer: Answer
  constructor(status: number, code: string, message: string, data: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.answer = { status, body: { code, message, data: { status, ...data } } }
  }
}

const invalidParam = (name: string) =>
  new WooRefusal(400, "rest_invalid_param", `Invalid parameter(s): ${name}`, {
    params: { [name]: `${name} is invalid.` }
  })

/** Reads the fields that a request sets. Unknown ones are ignored, as WordPress does. */
export const reading = <A>(schema: Schema.Decoder<A>) => {
  const decode = Schema.decodeUnknownSync(schema)
  return (input: unknown): A => {
    try {
      return decode(input)
    } catch (error) {
      throw invalidParam(/at \["(\w+)"\]/.exec(String(error))?.[1] ?? "body")
    }
  }
}

/** The JSON body of a request. */
export const jsonOf = (body: string): unknown => {
  try {
    return body === "" ? {} : JSON.parse(body)
  } catch {
    throw new WooRefusal(400, "rest_invalid_json", "Invalid JSON body passed.")
  }
}

/** A time as WooCommerce writes it: without a zone. */
export const wooDate = (at: number): string => new Date(at).toISOString().slice(0, 19)

/** A time in the shop's zone and in UTC, or null. */
export const wooDates = (name: string, at: number | null, offsetMs: number) => ({
  [name]: at === null ? null : wooDate(at + offsetMs),
  [`${name}_gmt`]: at === null ? null : wooDate(at)
})

/** Numbers of a comma separated parameter; undefined if it is absent. */
export const idsOf = (query: URLSearchParams, name: string): ReadonlyArray<number> | undefined =>
  query.get(name)?.split(",").map(Number)

/** Records in the order of their ids if the request asks for it, else as they are. */
export const byId = <A extends { readonly id: number }>(query: URLSearchParams, rows: ReadonlyArray<A>) => {
  const up = query.get("order") === "asc" ? 1 : -1
  return query.get("orderby") === "id" ? rows.toSorted((left, right) => (left.id - right.id) * up) : rows
}

/** One of `allowed`, or the default. */
export const oneOf = <A extends string>(
  query: URLSearchParams,
  name: string,
  allowed: ReadonlyArray<A>,
  otherwise: A
): A => {
  const value = query.get(name)
  if (value === null) return otherwise
  const found = allowed.find((one) => one === value)
  if (found === undefined) throw invalidParam(name)
  return found
}

/**
 * Milliseconds of a date parameter. WordPress turns it into the shop's local time, which it compares with local columns, or
 * with those in UTC if the request says `dates_are_gmt`: a date with a zone is then wrong by the zone.
 */
export const dateOf = (query: URLSearchParams, name: string, offsetMs: number): number | undefined => {
  const value = query.get(name)
  if (value === null) return undefined
  const zoned = /Z|[+-]\d\d:\d\d$/.test(value)
  const local = Date.parse(zoned ? value : `${value}Z`) + (zoned ? offsetMs : 0)
  if (Number.isNaN(local)) throw invalidParam(name)
  return query.get("dates_are_gmt") === "true" ? local : local - offsetMs
}

/** A page of records with the headers of WordPress, which counts those that it does not show. */
export const paged = <A>(
  query: URLSearchParams,
  rows: ReadonlyArray<A>,
  view: (row: A) => object,
  isShown: (row: A) => boolean = () => true
): Answer => {
  const numberOf = (name: string, otherwise: number, most: number) => {
    const value = Number(query.get(name) ?? otherwise)
    if (!Number.isInteger(value) || value < 1 || value > most) throw invalidParam(name)
    return value
  }
  const [size, page] = [numberOf("per_page", 10, 100), numberOf("page", 1, Number.MAX_SAFE_INTEGER)]
  // An offset wins over a page.
  const from = Number(query.get("offset") ?? (page - 1) * size)
  const only = query.get("_fields")?.split(",")
  return {
    status: 200,
    headers: { "X-WP-Total": String(rows.length), "X-WP-TotalPages": String(Math.ceil(rows.length / size)) },
    body: rows.slice(from, from + size).filter(isShown).map((row) => {
      const shown = view(row)
      return only === undefined
        ? shown
        : Struct.pick(shown, only.filter((name): name is keyof typeof shown => name in shown))
    })
  }
}
