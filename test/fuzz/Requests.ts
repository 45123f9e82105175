import type { Json } from "../../src/http/openapi/Json.ts"
import type { Known } from "./Known.ts"
import type { Operation } from "./Operations.ts"
import { hostileText, hostileValue, nearlyValid, type Source, validValue } from "./Values.ts"

/** A request to an operation, ready to be sent. */
export interface FuzzRequest {
  readonly operation: Operation
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Texts in a path or a query that are none of what is asked for. */
const hostileParts = [
  "0",
  "-1",
  "%252e%252e",
  "a%00b",
  "%F0%9F%91%A9",
  "'",
  "null",
  "undefined",
  "00000000-0000-0000-0000-000000000000",
  "99999999999999999999",
  "%ff%fe",
  "x".repeat(500)
]

const textOf = (value: Json): string => typeof value === "string" ? value : JSON.stringify(value)

/** The path with records that are known, and what the schema admits where none is. */
const pathFor = (operation: Operation, known: Known, source: Source, hostile: boolean): string => {
  const { random } = source
  const template = operation.path.split("/")
  const begun = (known.pathOf(operation.path, random) ?? operation.path).split("/")
  return template.map((part, index) => {
    if (!part.startsWith("{")) return part
    if (hostile && random.chance(0.5)) return random.oneOf(hostileParts) ?? ""
    const found = begun[index] ?? part
    if (found !== part) return found
    const { schema = {} } = operation.parameters.find(({ name }) => `{${name}}` === part) ?? {}
    return encodeURIComponent(textOf(validValue(schema, part.slice(1, -1), source)))
  }).join("/")
}

/** How far a request is from a valid one. */
type Kind = "valid" | "nearly" | "hostile"

const queryFor = ({ parameters }: Operation, source: Source, kind: Kind): string => {
  const { random } = source
  const named = parameters.filter(({ in: place, required }) => place === "query" && (required || random.chance(0.3)))
  const pairs = named.map(({ name, schema }) => {
    const value = kind === "hostile" || (kind === "nearly" && random.chance(0.3))
      ? random.oneOf(hostileParts) ?? ""
      : encodeURIComponent(textOf(validValue(schema, name, source)))
    return `${name}=${value}`
  })
  if (kind !== "valid" && random.chance(0.1)) pairs.push(...pairs, "__proto__=1", "page=-1")
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`
}

const bodyFor = ({ body, method }: Operation, source: Source, kind: Kind): string | undefined => {
  if (body === undefined) return kind !== "hostile" || method === "GET" ? undefined : hostileText(source)
  const valid = validValue(body, "", source)
  if (kind === "valid") return JSON.stringify(valid)
  if (kind === "nearly") return JSON.stringify(nearlyValid(valid, source))
  return source.random.chance(0.5) ? hostileText(source) : JSON.stringify(hostileValue(source))
}

/** Some keys come again, with the same request or another one; some are none. */
const keyFor = ({ random }: Source, kind: Kind): string =>
  kind === "hostile" ? random.word(3) : random.chance(0.3) ? `same-key-${random.int(50)}` : random.word(20)

/** A request to the operation: valid ones, nearly valid ones and hostile ones, by chance. */
export const requestFor = (
  operation: Operation,
  headers: Readonly<Record<string, string>>,
  known: Known,
  source: Source
): FuzzRequest => {
  const kind = source.random.pick<Kind>(["valid", "valid", "nearly", "nearly", "hostile"])
  const body = bodyFor(operation, source, kind)
  const type = kind === "hostile" && source.random.chance(0.2)
    ? source.random.pick(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/xml"])
    : "application/json"
  const idempotent = operation.parameters.some(({ name }) => name === "Idempotency-Key") && source.random.chance(0.1)
  return {
    operation,
    path: pathFor(operation, known, source, kind === "hostile") + queryFor(operation, source, kind),
    headers: {
      ...headers,
      ...body === undefined ? {} : { "content-type": type },
      ...idempotent ? { "idempotency-key": keyFor(source, kind) } : {}
    },
    body
  }
}
