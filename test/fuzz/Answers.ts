import type { ValidateFunction } from "ajv"
import AjvDraft04 from "ajv-draft-04"
import type { JsonObject } from "../../src/http/openapi/Json.ts"
import type { Operation } from "./Operations.ts"

/** An answer as it came over the wire. */
export interface Received {
  readonly status: number
  readonly contentType: string | null
  readonly text: string
}

const pointerOf = (...path: ReadonlyArray<string>) =>
  `#/${path.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`

/**
 * What an answer does that its operation does not declare: a failure of the service, a status, a media type or a body
 * outside of its schema. Undefined for an answer as documented. Schema objects of OpenAPI 3.0 are JSON Schema draft 4
 * with `nullable`, which Ajv knows.
 */
export const answersOf = (document: JsonObject) => {
  const ajv = new AjvDraft04.default({ strict: false, validateSchema: false, validateFormats: false, allErrors: false })
  ajv.addSchema(document, "openapi.json")
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
