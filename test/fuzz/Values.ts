import { isArray, isObject, type Json, type JsonObject, list } from "../../src/http/openapi/Json.ts"
import { member } from "./Operations.ts"

/** What values are made from: choices, the schemas that others refer to, and ids of records by the name of a field. */
export interface Source {
  readonly random: Random
  readonly document: JsonObject
  readonly idOf: (field: string) => string | undefined
  /** An unknown key that every object with known ones has. Absent: none. */
  readonly planted?: string
}

/** Texts that mean something, by the end of a field's name in small letters. The first that fits counts. */
const meanings: ReadonlyArray<readonly [RegExp, (random: Random) => string]> = [
  [/currency$/, () => "USD"],
  [/country(code)?$/, ({ pick }) => pick(["US", "NL"])],
  [/countries$/, ({ pick }) => pick(["US", "NL"])],
  [/email$|^to$/, ({ word }) => `${word(8)}@example.com`],
  [/url$/, ({ word }) => `https://files.invalid/${word(6)}`],
  [/(slug|code|sku|name|title|label|value)$/, ({ word }) => word(10)],
  [/locale$/, ({ pick }) => pick(["en", "de"])],
  [
    /(at|date|from|until|after|before|birthday)$/,
    ({ int }) => `20${30 + int(40)}-0${1 + int(9)}-1${int(9)}T00:00:00.000Z`
  ],
  [/password$/, ({ word }) => `${word(6)}-${word(6)}-1A`],
  [/entitytype$|^type$/, () => "product"],
  [/^events?$/, () => "orders.create"],
  [/permissions?$/, () => "catalog:read"],
  [/^role$/, () => "staff"],
  [/paymentmethodid$/, () => "test"]
]

const textFor = (schema: JsonObject, field: string, source: Source): string => {
  const { random } = source
  const name = field.toLowerCase()
  if (schema["format"] === "uuid" || name.endsWith("id")) {
    const id = source.idOf(field)
    if (id !== undefined) return id
  }
  if (schema["format"] === "uuid") return "7d444840-9dc0-41d1-b245-5ffdce74fad2"
  const [, meant] = meanings.find(([end]) => end.test(name)) ?? []
  const least = Number(schema["minLength"] ?? 1)
  const text = meant?.(random) ?? random.word(Math.max(least, 1 + random.int(12)))
  return text.slice(0, Number(schema["maxLength"] ?? 1_000)).padEnd(least, "x")
}

const numberFor = (schema: JsonObject, { random }: Source): number => {
  const least = Number(schema["minimum"] ?? 0) + (schema["exclusiveMinimum"] === true ? 1 : 0)
  const most = Math.min(Number(schema["maximum"] ?? 1e9), least + 20)
  return least + random.int(Math.max(1, Math.floor(most - least) + 1))
}

const objectFor = (schema: JsonObject, source: Source): Json => {
  const required = list(schema["required"])
  const properties = isObject(schema["properties"]) ? Object.entries(schema["properties"]) : []
  const chosen = properties.filter(([name]) => required.includes(name) || source.random.chance(0.35))
  const extra = schema["additionalProperties"]
  const open = isObject(extra) && properties.length === 0 && source.random.chance(0.5)
  return Object.fromEntries([
    ...chosen.map(([name, one]) => [name, validValue(one, name, source)] as const),
    ...(open ? [[source.random.word(4), validValue(extra, "", source)] as const] : []),
    ...(source.planted !== undefined && properties.length > 0 && extra === undefined
      ? [[source.planted, 1] as const]
      : [])
  ])
}

/** One schema of what several must all hold. */
const merged = (schema: JsonObject, source: Source): JsonObject =>
  list(schema["allOf"]).reduce<JsonObject>((all, one) => {
    const found = resolved(one, source)
    return isObject(all["properties"]) && isObject(found["properties"])
      ? { ...found, ...all, properties: { ...found["properties"], ...all["properties"] } }
      : { ...found, ...all }
  }, Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "allOf")))

const resolved = (schema: Json, source: Source): JsonObject => {
  const $ref = member(schema, "$ref")
  const found = typeof $ref === "string" ? member(source.document, ...$ref.slice(2).split("/")) : schema
  return isObject(found) ? (found["allOf"] === undefined ? found : merged(found, source)) : {}
}

/** Any small JSON. */
const anything = ({ random }: Source): Json => random.pick<Json>(["some text", 5, true, { key: "value" }, ["one"]])

/** A value that a schema admits, with ids of records where a field names one. */
export const validValue = (of: Json, field: string, source: Source): Json => {
  const schema = resolved(of, source)
  const { random } = source
  if (schema["nullable"] === true && random.chance(0.1)) return null
  const values = list(schema["enum"])
  if (values.length > 0) return random.oneOf(values) ?? null
  const alternatives = [...list(schema["anyOf"]), ...list(schema["oneOf"])]
  if (alternatives.length > 0) return validValue(random.oneOf(alternatives) ?? {}, field, source)
  switch (schema["type"]) {
    case "string":
      return textFor(schema, field, source)
    case "integer":
    case "number":
      return numberFor(schema, source)
    case "boolean":
      return random.chance(0.5)
    case "array": {
      const least = Number(schema["minItems"] ?? 0)
      const count = Math.min(Number(schema["maxItems"] ?? 3), least + random.int(3))
      return Array.from({ length: count }, () => validValue(schema["items"] ?? {}, field.replace(/s$/, ""), source))
    }
    case "object":
      return objectFor(schema, source)
    default:
      return anything(source)
  }
}

/** How deep JSON lies in itself that is sent to see what a recursion does with it. */
const depth = 500

/** Values that are hard on a service by their mere size or coding. */
const hard: ReadonlyArray<Json> = ["\ud800", Array.from({ length: 100_000 }, () => null), "x".repeat(900_000)]

/** Values of which no route should think well: none of its type, at its bounds, or hard on what reads it. */
export const hostileValue = ({ random }: Source): Json =>
  random.pick<Json>([
    null,
    true,
    "",
    " ",
    0,
    -1,
    1.5,
    1e21,
    9007199254740991,
    -9007199254740992,
    [],
    {},
    [null],
    [[]],
    { __proto__: null },
    JSON.parse("{\"__proto__\":{\"admin\":true},\"constructor\":{}}"),
    "'; drop table orders; --",
    "%00",
    "nul\u0000inside",
    "\u202eright to left",
    "👩‍👩‍👧‍👦",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "99999999-9999-9999-9999-999999999999",
    "2026-13-45",
    "0000-00-00T00:00:00Z",
    "+275760-09-13T00:00:00.001Z",
    "NaN",
    "1e309",
    "x".repeat(300),
    Array.from({ length: 20 }, () => "x"),
    JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`),
    ...hard
  ])

/** The value with one place of it changed: a field left out, another type, a bound, a repeated entry, an unknown field. */
export const nearlyValid = (value: Json, source: Source): Json => {
  const { random } = source
  if (isArray(value) && value.length > 0 && random.chance(0.7)) {
    const place = random.int(value.length)
    if (random.chance(0.2)) return [...value, value[place] ?? null]
    return value.map((one, index) => index === place ? nearlyValid(one, source) : one)
  }
  if (!isObject(value) || Object.keys(value).length === 0 || random.chance(0.1)) return hostileValue(source)
  const key = random.oneOf(Object.keys(value)) ?? ""
  const others = Object.entries(value).filter(([name]) => name !== key)
  const how = random.int(10)
  if (how === 0) return Object.fromEntries(others)
  if (how === 1) return { ...value, [random.word(6)]: hostileValue(source) }
  return Object.fromEntries([...others, [
    key,
    how < 6 ? nearlyValid(value[key] ?? null, source) : hostileValue(source)
  ]])
}

/** Bodies that are sent as they stand. */
export const hostileText = ({ random }: Source): string =>
  random.pick([
    "",
    "{",
    "null",
    "[]",
    "\"text\"",
    "5",
    "{\"a\":1e999}",
    "{\"a\":1,\"a\":2}",
    "\ufeff{}",
    "{} {}",
    "{\"amount\":-0}",
    `{"metadata":${"{\"a\":".repeat(depth)}1${"}".repeat(depth)}}`
  ])

/** Numbers, choices and texts that are the same for the same seed (mulberry32). */
export interface Random {
  /** From 0 up to but not `below`. */
  readonly int: (below: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(from: readonly [A, ...ReadonlyArray<A>]) => A
  /** One of these; undefined of none. */
  readonly oneOf: <A>(from: ReadonlyArray<A>) => A | undefined
  /** Small letters. */
  readonly word: (length: number) => string
}

export const randomOf = (seed: number): Random => {
  let state = seed | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const int = (below: number) => Math.floor(next() * below)
  return {
    int,
    chance: (probability) => next() < probability,
    pick: (from) => from[int(from.length)] ?? from[0],
    oneOf: (from) => from[int(from.length)],
    word: (length) => Array.from({ length }, () => String.fromCharCode(97 + int(26))).join("")
  }
}
