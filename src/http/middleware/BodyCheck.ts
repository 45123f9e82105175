import { Effect, Result, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { type Issue, ValidationFailed } from "../../domain/platform/errors/ApiErrors.ts"
import { invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import { issuesOf } from "../../domain/platform/text/Issues.ts"
import { readJson, unstorable, unstorableAt } from "../../domain/platform/text/Storable.ts"
import { isObject, type Json, type JsonObject, list, toJson } from "../openapi/Json.ts"

type Alternatives = ReadonlyArray<JsonObject>

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null

/** The largest of the maxima that the alternatives name; one that names none has no bound. */
const maximumOf = (all: Alternatives, keyword: "maxItems" | "maxProperties"): number =>
  all.reduce((largest, { [keyword]: own }) => Math.max(largest, typeof own === "number" ? own : Infinity), 0)

const tooLong = (path: ReadonlyArray<string>, maximum: number, what: string): Issue => ({
  path: path.join("."),
  message: `must have at most ${maximum} ${what}.`,
  code: "too_many"
})

/** Looks for what is longer than a JSON Schema allows, and at nothing else. */
class LengthCheck {
  readonly #definitions: JsonObject
  readonly #known = new Map<JsonObject, Alternatives>()

  constructor(definitions: JsonObject) {
    this.#definitions = definitions
  }

  alternatives(schema: Json | undefined): Alternatives {
    if (!isObject(schema)) return []
    const known = this.#known.get(schema)
    if (known !== undefined) return known
    this.#known.set(schema, [])
    const found = this.#expanded(schema)
    this.#known.set(schema, found)
    return found
  }

  #expanded({ allOf, anyOf, oneOf, $ref, ...own }: JsonObject): Alternatives {
    if (typeof $ref === "string") return this.alternatives(this.#definitions[$ref.replace(/^.*\//, "")])
    const among = [...list(anyOf), ...list(oneOf)]
    if (among.length > 0) return among.flatMap((one) => this.alternatives(one))
    // Further conditions on the same value, among them lengths.
    return [Object.assign({}, ...list(allOf), own)]
  }

  find(value: unknown, among: Alternatives, path: ReadonlyArray<string>): Issue | undefined {
    if (!isContainer(value)) return undefined
    return Array.isArray(value) ? this.#findInArray(value, among, path) : this.#findInObject(value, among, path)
  }

  #findInArray(value: ReadonlyArray<unknown>, among: Alternatives, path: ReadonlyArray<string>): Issue | undefined {
    const arrays = among.filter(({ type }) => type === "array")
    // What is no array for its schema is refused by it before anything inside is looked at.
    if (arrays.length === 0) return undefined
    const maximum = maximumOf(arrays, "maxItems")
    if (value.length > maximum) return tooLong(path, maximum, "entries")
    const inside = arrays.flatMap(({ items, prefixItems }) =>
      [items, ...list(prefixItems)].flatMap((schema) => this.alternatives(schema))
    )
    if (inside.length === 0) return undefined
    for (const [index, entry] of value.entries()) {
      const issue = this.find(entry, inside, [...path, String(index)])
      if (issue !== undefined) return issue
    }
    return undefined
  }

  #findInObject(value: object, among: Alternatives, path: ReadonlyArray<string>): Issue | undefined {
    const objects = among.filter(({ type }) => type === "object")
    if (objects.length === 0) return undefined
    const keys = Object.keys(value)
    const maximum = maximumOf(objects, "maxProperties")
    if (keys.length > maximum) return tooLong(path, maximum, "keys")
    for (const key of keys) {
      const inner: unknown = Reflect.get(value, key)
      if (!isContainer(inner)) continue
      const inside = objects.flatMap(({ additionalProperties, properties }) =>
        this.alternatives(
          isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : additionalProperties
        )
      )
      const issue = inside.length === 0 ? undefined : this.find(inner, inside, [...path, key])
      if (issue !== undefined) return issue
    }
    return undefined
  }
}

/**
 * What looks whether an array or an object of a JSON value is longer than its schema allows; undefined where the schema
 * names no length. A decoder comes to the length of an array after all of its items, so this is asked before.
 */
export const lengthCheckOf = (schema: Schema.Constraint): ((value: unknown) => Issue | undefined) | undefined => {
  const document = toJson(Schema.toJsonSchemaDocument(schema))
  if (!isObject(document) || !/"max(?:Items|Properties)":/.test(JSON.stringify(document))) return undefined
  const check = new LengthCheck(isObject(document["definitions"]) ? document["definitions"] : {})
  const root = check.alternatives(document["schema"])
  return (value) => check.find(value, root, [])
}

/** Values of a body up to which all its issues are collected; for a larger one only the first is reported. */
const maxValues = 2_000

/** Whether there are more values within a value than that; it looks at no more of them. */
const holdsMoreThan = (maximum: number, value: unknown): boolean => {
  const waiting = [value]
  for (let seen = 0; waiting.length > 0; seen++) {
    if (seen + waiting.length > maximum) return true
    const next = waiting.pop()
    if (typeof next !== "object" || next === null) continue
    const inside: ReadonlyArray<unknown> = Object.values(next)
    if (inside.length > maximum) return true
    waiting.push(...inside)
  }
  return false
}

/** Escapes without which no text of a JSON body is unstorable: NUL, and halves of surrogate pairs. */
const suspicious = /\\u(?:0000|[dD][89a-fA-F])/

export class UnstorableField extends invalid("UnstorableField", (path: string) => path, () => unstorable, "format") {}

/** What is wrong with a JSON value before its schema looks at it, at a cost that no value can drive up. */
export type ValueCheck = (value: unknown, maybeUnstorable: boolean) => ValidationFailed | undefined

export const valueCheckOf = (schema: Schema.Constraint): ValueCheck => {
  const tooLong = lengthCheckOf(schema)
  // Bodies are decoded without services.
  const decode = Schema.decodeUnknownResult(schema as Schema.Codec<unknown, unknown>, { reportInput: true })
  return (value, maybeUnstorable) => {
    const issue = tooLong?.(value)
    if (issue !== undefined) return ValidationFailed.issues([issue])
    const path = maybeUnstorable ? unstorableAt(value) : undefined
    if (path !== undefined) return new UnstorableField(path.join("."))
    if (!holdsMoreThan(maxValues, value)) return undefined
    const read = decode(value)
    return Result.isFailure(read) ? ValidationFailed.issues(issuesOf(read.failure)) : undefined
  }
}

export const jsonPayloadOf = ({ payload }: HttpApiEndpoint.Top): Schema.Constraint | undefined => {
  const sent = payload.get("application/json")
  return sent === undefined || sent.encoding._tag !== "Json" ? undefined : Schema.Union(sent.schemas)
}

/** The JSON body of a request, checked for these schemas; undefined where it is no JSON, which the endpoint's decoder refuses. */
export const checkedBody = (schema: Schema.Constraint) => {
  let check: ValueCheck | undefined
  return Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
    // Cached by the request, so the decoder does not read it again. What cannot be read is the edge's to answer.
    const text = yield* Effect.catch(request.text, Effect.die)
    const read = readJson(text)
    if (Result.isFailure(read)) return undefined
    check ??= valueCheckOf(schema)
    const refused = check(read.success, suspicious.test(text))
    if (refused !== undefined) return yield* refused
    return read.success
  })
}
