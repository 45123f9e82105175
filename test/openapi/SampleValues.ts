import { hintKey } from "../../src/domain/platform/hints/Hints.ts"
import { idOf } from "../../src/http/openapi/Examples.ts"
import { isArray, isObject, type Json, type JsonObject, list } from "../../src/http/openapi/Json.ts"

/*
 * Values that differ from run to run, and secrets, become samples: a recorded example may stand in the repository, and looks
 * the same after the next recording.
 */

/** Changes each text; the name of its field is that of the list around it. */
const mapTexts = (value: Json, change: (text: string, field: string) => string, field = ""): Json =>
  typeof value === "string"
    ? change(value, field)
    : isArray(value)
    ? value.map((one) => mapTexts(one, change, field))
    : isObject(value)
    ? Object.fromEntries(
      Object.entries(value).map(([name, one]) => [inText(name, change), mapTexts(one, change, name)])
    )
    : value

/** Keys of records may be ids. */
const inText = (name: string, change: (text: string, field: string) => string): string =>
  uuid.test(name) ? change(name, "") : name

const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/
const uuids = new RegExp(uuid, "g")

/** The kind of record of each id: as the schema says, or the name of its field. */
const kindsIn = (schemas: JsonObject, schema: Json, body: Json): ReadonlyMap<string, string> => {
  const kinds = new Map<string, string>()
  const visit = (of: Json | undefined, value: Json | undefined, field: string): void => {
    const known = isObject(of) ? of : {}
    if (typeof known["$ref"] === "string") {
      visit(schemas[known["$ref"].replace("#/components/schemas/", "")], value, field)
    }
    for (const one of [known["allOf"], known["anyOf"], known["oneOf"]].flatMap(list)) visit(one, value, field)
    if (typeof value === "string") {
      const hint = known[hintKey]
      const kind = isObject(hint) ? hint["ref"] : undefined
      if (typeof kind === "string" || !kinds.has(value)) kinds.set(value, typeof kind === "string" ? kind : field)
    }
    if (isArray(value)) value.forEach((one) => visit(known["items"], one, field))
    if (!isObject(value)) return
    const properties = isObject(known["properties"]) ? known["properties"] : {}
    for (const [name, one] of Object.entries(value)) visit(properties[name], one, name)
  }
  visit(schema, body, "")
  return kinds
}

/** Ids by their kinds: the same record has the same id everywhere. */
const withIds = (body: Json, kinds: ReadonlyMap<string, string>): Json => {
  const ids = new Map<string, string>()
  const counts = new Map<string, number>()
  const sample = (id: string): string => {
    const found = ids.get(id)
    if (found !== undefined) return found
    const kind = kinds.get(id) ?? "record"
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    const made = idOf(count === 1 ? kind : `${kind} ${count}`)
    ids.set(id, made)
    return made
  }
  return mapTexts(body, (text) => text.replace(uuids, sample))
}

const minute = 60_000
const day = 86_400_000
const sampleMoment = Date.parse("2026-11-25T08:30:00.000Z")
const moments = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g
const isChosen = (moment: number): boolean => moment % minute === 0

/** Moments of the clock count from one morning; what a test chose, whole minutes and dates, moves by whole days. */
const withTimes = (body: Json): Json => {
  const found: Array<number> = []
  mapTexts(body, (text) => text.replace(moments, (one) => `${found.push(Date.parse(one))}`))
  const first = Math.min(...found.filter((one) => !isChosen(one)))
  if (!Number.isFinite(first)) return body
  const by = sampleMoment - first
  const days = Math.round(by / day) * day
  const moved = (moment: number): string =>
    new Date(isChosen(moment) ? moment + days : Math.round((moment + by) / minute) * minute).toISOString()
  return mapTexts(body, (text) =>
    /^\d{4}-\d\d-\d\d$/.test(text)
      ? moved(Date.parse(text)).slice(0, 10)
      : text.replace(moments, (one) => moved(Date.parse(one))))
}

const repeated = (word: string, length: number): string => word.repeat(Math.ceil(length / word.length)).slice(0, length)

/** A token of the same length and letters, which keeps what says its kind: `sk_sample…`. */
const sampleToken = (token: string): string => {
  const [kind = ""] = /^[a-z]{2,7}_(?:[a-z]{2,5}_)?/.exec(token) ?? []
  const rest = token.slice(kind.length)
  const word = /^[\da-f]+$/.test(rest) ? "0123456789abcdef" : /^[\dA-Z-]+$/.test(rest) ? "SAMPLE" : "sample"
  return kind + repeated(word, rest.length)
}

const secretFields = /(token|secret|signature|apikey|^key|^start|credential|challenge|backupcodes|cookie)s?$/i
/** Fields that also have words: `key` of a setting. */
const isWord = (text: string, field: string): boolean => /^(key|start)$/.test(field) && /^[a-z._/-]+$/.test(text)
const token = /[\w+/=-]{6,}/g
/** Letters and digits without a word: hashes, keys, sessions. */
const random = /\b(?=[a-z_]*\d)(?=\w*[a-z])\w{14,}\b/gi
const parameter = /(?<=[?&](?:state|token|secret|signature|code|code_challenge|X-Amz-\w+)=)[^&\s"]+/g

/** A text without secrets, the same if it has none. */
export const withoutSecrets = (text: string, field: string): string => {
  if (/password/i.test(field)) return "correct horse battery"
  const isSecret = secretFields.test(field) && !/\s|^http/.test(text) && !uuid.test(text) && !isWord(text, field)
  return isSecret ? text.replace(token, sampleToken) : text.replace(parameter, sampleToken).replace(random, sampleToken)
}

/** Names that tests make up for a run, its organizations and addresses. */
const inOneStore = (text: string, field: string): string =>
  (field === "slug" && uuid.test(text) ? "stoneware-mug" : text)
    .replace(new RegExp(`${uuid.source}(?=(@|%40)[a-z])`, "g"), "ann")
    .replace(/^([a-z]+)-[\da-f]{8,12}$/, "$1")
    .replace(/\borg_[a-z]\w*/g, "org_default")
    .replace(/\bhttps?(:\/\/|%3A%2F%2F)(?:127\.0\.0\.1|localhost)(?::|%3A)\d+/g, "https$1shop.example.com")
    .replace(/\b(127\.0\.0\.1|localhost):\d+/g, "shop.example.com")

const shortened = (text: string): string => text.length > 160 && /\s/.test(text) ? `${text.slice(0, 120)}…` : text

/** The bodies of one exchange with samples. */
export const withSamples = (schemas: JsonObject, schema: Json, body: Json): Json => {
  const named = mapTexts(body, inOneStore)
  const known = withTimes(withIds(named, kindsIn(schemas, schema, named)))
  return mapTexts(known, (text, field) => shortened(withoutSecrets(text, field)))
}

/** The texts of a body that are no samples. */
export const secretsIn = (body: Json): ReadonlyArray<string> => {
  const found: Array<string> = []
  mapTexts(body, (text, field) => {
    if (withoutSecrets(text, field) !== text) found.push(`${field}: ${text}`)
    return text
  })
  return found
}
