import { hintKey } from "../../domain/platform/hints/Hints.ts"
import { isArray, isObject, type Json, type JsonObject, list, mapValues } from "./Json.ts"
import type { Recorded } from "./Recorded.ts"

/*
 * An example of each request and answer: what tests recorded (`Recorded.ts`), else made of the examples that schemas have;
 * formats, names of fields and bounds say the rest. Those that several operations share stand once in the document.
 */

/** Values of texts by the end of a field's name, where its schema has no example. The first that fits counts. */
const texts: ReadonlyArray<readonly [RegExp, string]> = [
  [/currency$/i, "EUR"],
  [/country(Code)?$/i, "AT"],
  [/email$/i, "ann@example.com"],
  [/(url|uri|callback)$/i, "https://example.com/mug"],
  [/locale$/i, "en"],
  [/phone$/i, "+43 1 234567"],
  [/sku$/i, "MUG-BLUE"],
  [/slug$/i, "stoneware-mug"],
  [/first_?name$/i, "Ann"],
  [/last_?name$/i, "Miller"],
  [/city$/i, "Vienna"],
  [/line1$/i, "Main Street 1"],
  [/postal_?code$/i, "1010"],
  [/time_?zone$/i, "Europe/Vienna"],
  [/number$/i, "2026-000123"],
  [/code$/i, "SPRING10"],
  [/(title|name|label)$/i, "Stoneware mug"],
  [/reason|note|notes|message|description$/i, "As agreed by phone."]
]

const formats: Readonly<Record<string, string>> = {
  "date-time": "2026-11-25T08:30:00.000Z",
  date: "2026-11-25",
  "idn-email": "ann@example.com",
  uri: "https://example.com/mug",
  decimal: "1.5",
  password: "correct horse battery",
  byte: "c3RvYQ==",
  binary: ""
}

/** The id of the example of a kind of record: the same wherever it is named. */
export const idOf = (kind: string): string => {
  const number = [...kind].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 0xffff_ffff, 7)
  return `0198c0de-0000-7000-8000-${number.toString(16).padStart(12, "0")}`
}

const hintOf = (schema: JsonObject, name: string): Json | undefined =>
  isObject(schema[hintKey]) ? schema[hintKey][name] : undefined

const textOf = (schema: JsonObject, field: string): string => {
  const { format, maxLength, minLength } = schema
  if (format === "uuid") return idOf(String(hintOf(schema, "ref") ?? field))
  const [, named = "text"] = texts.find(([end]) => end.test(field)) ?? []
  const text = typeof format === "string" ? formats[format] ?? named : named
  return text.slice(0, Number(maxLength ?? text.length)).padEnd(Number(minLength ?? 0), "x")
}

const numberOf = (schema: JsonObject): number => {
  const [least, most] = [Number(schema["minimum"] ?? 0), Number(schema["maximum"] ?? Number.MAX_SAFE_INTEGER)]
  const above = typeof schema["exclusiveMinimum"] === "number" ? schema["exclusiveMinimum"] + 1 : least
  return Math.min(Math.max(hintOf(schema, "kind") === "money" ? 1_990 : 1, least, above), most)
}

/** Deeper lists and records are left empty, or null. */
const deepest = 5

/** Makes an example of a schema of these components; undefined: there is none that is known to be right. */
export const examplesOf = (schemas: JsonObject) => {
  const resolved = (schema: Json): JsonObject => {
    if (!isObject(schema)) return {}
    const { $ref, ...beside } = schema
    const found = typeof $ref === "string"
      ? { ...resolved(schemas[$ref.replace("#/components/schemas/", "")] ?? {}), ...beside }
      : schema
    return list(found["allOf"]).reduce<JsonObject>((all, one) => {
      const member = resolved(one)
      const both = (key: string) => ({ ...Object(member[key]), ...Object(all[key]) })
      return {
        ...member,
        ...all,
        properties: both("properties"),
        required: [...list(member["required"]), ...list(all["required"])]
      }
    }, found)
  }

  const objectOf = (schema: JsonObject, depth: number): JsonObject => {
    const properties = isObject(schema["properties"]) ? Object.entries(schema["properties"]) : []
    const required = list(schema["required"])
    const shown = required.length === 0
      ? properties.slice(0, 1)
      : properties.filter(([name]) => required.includes(name))
    return Object.fromEntries(shown.map(([name, one]) => [name, exampleOf(one, name, depth + 1) ?? null]))
  }

  const ofType = (schema: JsonObject, type: Json | undefined, field: string, depth: number): Json | undefined => {
    switch (type) {
      case "string":
        return schema["pattern"] === undefined || texts.some(([end]) => end.test(field)) ||
            schema["format"] !== undefined
          ? textOf(schema, field)
          : undefined
      case "integer":
      case "number":
        return numberOf(schema)
      case "boolean":
        return true
      case "array": {
        const isEmpty = depth > deepest && Number(schema["minItems"] ?? 0) === 0
        const item = isEmpty ? undefined : exampleOf(schema["items"] ?? {}, field.replace(/s$/, ""), depth + 1)
        return item === undefined ? [] : [item]
      }
      case "object":
        return depth > deepest + 2 ? {} : objectOf(schema, depth)
      default:
        return undefined
    }
  }

  const exampleOf = (of: Json, field: string, depth: number): Json | undefined => {
    const schema = resolved(of)
    const [own] = list(schema["examples"])
    if (own !== undefined) return own
    if (schema["const"] !== undefined) return schema["const"]
    const [word] = list(schema["enum"])
    if (word !== undefined) return word
    const types = isArray(schema["type"]) ? schema["type"] : [schema["type"] ?? null]
    if (types.includes("null") && types.includes("object") && depth > 2) return null
    const alternatives = [...list(schema["anyOf"]), ...list(schema["oneOf"])]
    if (alternatives.length > 0) {
      if (depth > 2 && alternatives.some((one) => isObject(one) && one["type"] === "null")) return null
      return alternatives.map((one) => exampleOf(one, field, depth)).find((found) => found !== undefined)
    }
    const [type] = types.filter((one) => one !== "null")
    return type === undefined && types.includes("null") ? null : ofType(schema, type ?? undefined, field, depth)
  }

  return (schema: Json): Json | undefined => exampleOf(schema, "", 0)
}

type Holder = (media: JsonObject, operation: string, recorded: Json | undefined) => JsonObject

const inContent = (holder: Json | undefined, change: (media: JsonObject) => JsonObject): Json | undefined => {
  const content = isObject(holder) ? holder["content"] : undefined
  const media = isObject(content) ? content["application/json"] : undefined
  return isObject(holder) && isObject(content) && isObject(media)
    ? { ...holder, content: { ...content, "application/json": change(media) } }
    : holder
}

const withMedia = (operation: Json, change: Holder, recorded: Json | undefined): Json => {
  if (!isObject(operation)) return operation
  const { operationId, requestBody, responses } = operation
  const name = String(operationId)
  const bodies = isObject(recorded) ? recorded : {}
  const request = (media: JsonObject) => change(media, `${name}.request`, bodies["request"])
  return {
    ...operation,
    ...(requestBody === undefined ? {} : { requestBody: inContent(requestBody, request) ?? null }),
    responses: mapValues(
      responses,
      (response, status) =>
        Number(status) < 300 ? inContent(response, (media) => change(media, name, bodies[status])) ?? null : response
    )
  }
}

/** The document with an example of each body and of each successful answer in JSON. */
export const withExamples = (document: JsonObject, recorded: Recorded = {}): JsonObject => {
  const components = isObject(document["components"]) ? document["components"] : {}
  const derived = examplesOf(isObject(components["schemas"]) ? components["schemas"] : {})
  const exampleOf = (media: JsonObject, found: Json | undefined) =>
    found === undefined ? derived(media["schema"] ?? {}) : found
  const uses = new Map<string, number>()
  const shared = new Map<string, readonly [name: string, value: Json]>()
  const each = (change: Holder) =>
    mapValues(
      document["paths"],
      (item, path) =>
        mapValues(
          item,
          (operation, method) => withMedia(operation, change, recorded[`${method.toUpperCase()} ${path}`])
        )
    )
  each((media, _, found) => {
    const text = JSON.stringify(exampleOf(media, found))
    uses.set(text, (uses.get(text) ?? 0) + 1)
    return media
  })
  const paths = each((media, operation, found) => {
    const example = exampleOf(media, found)
    if (example === undefined) return media
    const text = JSON.stringify(example)
    if (uses.get(text) === 1) return { ...media, example }
    const [name] = shared.get(text) ?? [operation]
    shared.set(text, [name, example])
    return { ...media, examples: { typical: { $ref: `#/components/examples/${name}` } } }
  })
  const examples = Object.fromEntries([...shared.values()].map(([name, value]) => [name, { value }]))
  return { ...document, paths, components: { ...components, examples } }
}
