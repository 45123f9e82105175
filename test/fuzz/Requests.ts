import { isArray, isObject, type Json } from "../../src/http/openapi/Json.ts"
import { member, type Operation } from "./Operations.ts"
import { hostileText, hostileValue, nearlyValid, type Random, type Source, validValue } from "./Values.ts"

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
export const pathFor = (operation: Operation, known: Known, source: Source, hostile: boolean): string => {
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

export const queryFor = ({ parameters }: Operation, source: Source, kind: Kind): string => {
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

/** `/api/carts/{id}/items` and `/api/carts/:id/items`: what both have in common. */
const shapeOf = (template: string): string => template.replace(/\{[^}]*\}|:[^/]+/g, "{}")

/** Records that are kept of each kind; older ones are dropped, since many are deleted by then. */
const most = 12

/** What responses show of records: parent addresses by their shape, and ids by the fields that name them. */
export interface Known {
  /** A path in which every parameter is a record that is known, as far as there are any. */
  readonly pathOf: (template: string, random: Random) => string | undefined
  readonly idOf: (field: string, random: Random) => string | undefined
  /** Takes in the records that a path names: those of the template's parameters. */
  readonly learnPath: (template: string, path: string) => void
  readonly name: (field: string, id: string) => void
  /** Takes in everything an answer shows. */
  readonly learn: (path: string, answer: Json) => void
}

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

export const knownRecords = (): Known => {
  const collections = new Map<string, Array<string>>()
  const ids = new Map<string, Array<string>>()
  const add = (to: Map<string, Array<string>>, key: string, value: string) => {
    const all = to.get(key) ?? []
    to.set(key, [...all.filter((one) => one !== value), value].slice(-most))
  }
  const lastOf = (all: ReadonlyArray<string> | undefined, random: Random) =>
    all === undefined ? undefined : random.chance(0.5) ? all.at(-1) : random.oneOf(all)

  const pathOf: Known["pathOf"] = (template, random) => {
    const parts = template.split("/")
    // The longest beginning that is known as a whole keeps records together that belong together.
    for (let end = parts.length; end > 0; end--) {
      if (!parts[end - 1]?.startsWith("{")) continue
      const found = lastOf(collections.get(shapeOf(parts.slice(0, end).join("/"))), random)
      if (found !== undefined) return [found, ...parts.slice(end)].join("/")
    }
    return undefined
  }

  const record = (collection: string, id: string) =>
    add(collections, `${shapeIn(collection)}/{}`, `${collection}/${id}`)

  const learnRecord = (collection: string, value: Json): void => {
    const id = member(value, "id")
    if (typeof id !== "string" || !isObject(value)) return
    record(collection, id)
    for (const [key, inner] of Object.entries(value)) {
      if (isArray(inner)) inner.slice(0, 3).forEach((one) => learnRecord(`${collection}/${id}/${kebab(key)}`, one))
    }
  }

  const learnFields = (value: Json): void => {
    if (isArray(value)) value.slice(0, 3).forEach(learnFields)
    if (!isObject(value)) return
    for (const [key, one] of Object.entries(value)) {
      if (key.endsWith("Id") && typeof one === "string") add(ids, key, one)
      else learnFields(one)
    }
  }

  return {
    pathOf,
    learnPath: (template, path) => {
      const [parts, found] = [template.split("/"), path.split("/")]
      parts.forEach((part, index) => {
        if (!part.startsWith("{")) return
        add(collections, shapeOf(parts.slice(0, index + 1).join("/")), found.slice(0, index + 1).join("/"))
      })
    },
    idOf: (field, random) => lastOf(ids.get(field), random),
    name: (field, id) => add(ids, field, id),
    learn: (path, answer) => {
      const data = member(answer, "data") ?? answer
      learnFields(data)
      if (isArray(data)) data.slice(0, 3).forEach((one) => learnRecord(path, one))
      // What a collection answers with an id is a new record of it.
      else if (!path.endsWith(String(member(data, "id")))) learnRecord(path, data)
    }
  }
}

const id = /^([0-9a-f]{8}-[0-9a-f-]{27}|ORD-[\w-]+)$/

/** The shape of a path that names records. */
const shapeIn = (path: string): string => path.split("/").map((part) => id.test(part) ? "{}" : part).join("/")
