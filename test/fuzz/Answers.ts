import type { ValidateFunction } from "ajv"
import AjvDraft04 from "ajv-draft-04"
import { Effect } from "effect"
import { isArray, isObject, type Json, type JsonObject, mapValues, without } from "../../src/http/openapi/Json.ts"
import { type Answer, type Call, TestApp } from "../support/TestApp.ts"
import type { Operation } from "./Operations.ts"

/** An answer as it came over the wire. */
export interface Received {
  readonly status: number
  readonly contentType: string | null
  readonly text: string
}

const pointerOf = (...path: ReadonlyArray<string>) =>
  `#/${path.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`

/** `nullable` beside a reference, as generators read it: the record or null. Ajv would hold null to the reference. */
const withNulls = (value: Json): Json => {
  if (isArray(value)) return value.map(withNulls)
  if (!isObject(value)) return value
  // Examples are no schemas, and their ids none of a schema.
  const inside = mapValues("schema" in value ? without(value, "example", "examples") : value, withNulls)
  return value["nullable"] === true && isArray(value["allOf"]) ? { anyOf: [{ enum: [null] }, inside] } : inside
}

/**
 * What an answer does that its operation does not declare: a failure of the service, a status, a media type or a body
 * outside of its schema. Undefined for an answer as documented. Schema objects of OpenAPI 3.0 are JSON Schema draft 4
 * with `nullable`, which Ajv knows.
 */
export const answersOf = (document: JsonObject) => {
  const ajv = new AjvDraft04.default({ strict: false, validateSchema: false, validateFormats: false, allErrors: false })
  const components = without(Object(document["components"]), "examples")
  ajv.addSchema(mapValues({ ...document, components }, withNulls), "openapi.json")
  const known = new Map<string, ValidateFunction>()
  const validatorOf = ({ method, path }: Operation, status: number, type: string): ValidateFunction => {
    const content = ["responses", String(status), "content", type, "schema"]
    const $ref = `openapi.json${pointerOf("paths", path, method.toLowerCase(), ...content)}`
    const found = known.get($ref) ?? ajv.compile({ $ref })
    known.set($ref, found)
    return found
  }

  const bodyOf = (operation: Operation, { status, text }: Received, type: string): string | undefined => {
    if (!type.includes("json") || type.includes("ndjson")) return undefined
    let body: unknown
    try {
      body = JSON.parse(text)
    } catch {
      return `a body that is no JSON (${text.slice(0, 80)})`
    }
    const validate = validatorOf(operation, status, type)
    if (validate(body) === true) return undefined
    const [error] = validate.errors ?? []
    return `a body outside of its schema: ${error?.instancePath ?? ""} ${error?.message ?? ""} ${
      JSON.stringify(error?.params)
    }`
  }

  return (operation: Operation, received: Received): string | undefined => {
    const declared = operation.responses.get(received.status)
    if (received.status >= 500) return "a failure of the service"
    if (declared === undefined) return "a status that is not declared"
    const plain = (type: string) => type.split(";")[0]?.trim()
    if (received.text === "" && declared.length === 0) return undefined
    const type = declared.find((one) => one === "*/*" || plain(one) === plain(received.contentType ?? ""))
    return type === undefined
      ? `a media type that is not declared: ${received.contentType}`
      : bodyOf(operation, received, type)
  }
}

/** The operation that a path asks: the one with the fewest parameters of those that fit; none for what is not declared. */
export const operationAt = (
  operations: ReadonlyArray<Operation>,
  method: string,
  path: string
): Operation | undefined => {
  const [bare = ""] = path.split("?")
  const fits = operations.filter((one) =>
    one.method === method && new RegExp(`^${one.path.replace(/\{[^}]+\}/g, "[^/]+")}$`).test(bare)
  )
  return fits.sort((one, other) => one.path.split("{").length - other.path.split("{").length)[0]
}

const receivedOf = ({ body, headers, status }: Answer): Received => ({
  status,
  contentType: headers.get("content-type"),
  text: typeof body === "string" ? body : JSON.stringify(body)
})

/** An answer of the service to a request of a test. */
export interface Exchange {
  readonly method: string
  readonly path: string
  readonly call: Call
  readonly received: Received
}

/** Does what tests do elsewhere, and shows each of its answers. */
export const watching = <A, E, R>(
  seen: (exchange: Exchange) => void,
  body: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | TestApp> =>
  Effect.flatMap(TestApp, (app) => {
    const shown = (ask: typeof app.api): typeof app.api => (method, path, call = {}) =>
      Effect.tap(ask(method, path, call), (answer) =>
        Effect.sync(() => seen({ method, path, call, received: receivedOf(answer) })))
    return Effect.provideService(body, TestApp, { ...app, api: shown(app.api), prepare: shown(app.prepare) })
  })
