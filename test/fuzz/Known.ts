import { isArray, isObject, type Json } from "../../src/http/openapi/Json.ts"
import { member } from "./Operations.ts"
import type { Random } from "./Random.ts"

/** `/api/carts/{id}/items` and `/api/carts/:id/items`: what both have in common. */
export const shapeOf = (template: string): string => template.replace(/\{[^}]*\}|:[^/]+/g, "{}")

/** Records that are kept of each kind; older ones are dropped, since many are deleted by then. */
const most = 12

/** What answers show of records: addresses below which each lies, by their shape, and ids by the fields that name them. */
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
