import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "../../src/plugins")

const sourcesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true }).flatMap((one) => {
    const path = join(folder, one.name)
    if (one.isDirectory()) return one.name === "test" ? [] : sourcesIn(path)
    return one.name.endsWith(".ts") ? [readFileSync(path, "utf8")] : []
  })

/** Where the bracket ends that opens at this place. */
const endOf = (text: string, from: number): number => {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    if ("([{".includes(text[at] ?? "")) depth++
    if (")]}".includes(text[at] ?? "") && --depth === 0) return at + 1
  }
  return text.length
}

const withoutComments = (text: string): string => text.replace(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, "")

/** Names of columns at the first level of an object, without those that are marked as kept for people only. */
const keysOf = (object: string): ReadonlyArray<string> => {
  const names: Array<string> = []
  for (let at = 1; at < object.length - 1; at++) {
    if ("([{".includes(object[at] ?? "")) at = endOf(object, at) - 1
    else {
      const [, name] = /^[{,]?\s*([a-z][A-Za-z0-9]*):/.exec(object.slice(at)) ?? []
      if (name === undefined || /[\w.]/.test(object[at - 1] ?? "")) continue
      at = object.indexOf(":", at)
      const [value = ""] = /^[^,{(]*(?:\([^]*?\))?[^,]*?(?=,|\n|\}$)/.exec(object.slice(at)) ?? []
      if (!value.includes(".forPeople")) names.push(name)
    }
  }
  return names
}

/** Lists of names that say what a body has: they are no effect of a column. */
const bodies = /\b(?:required|optional|without): \[[^\]]*\]/g

/** Columns and options by their definitions, and the rest of the code. */
const declaredIn = (code: string) => {
  const columns: Array<string> = []
  const options: Array<string> = []
  let rest = ""
  let at = 0
  const definitions = /\b(?:table|childOf)\((?:\w+, "\w+", )?"(\w+)", |\b(\w+): option(?=[(<])/g
  for (const found of code.matchAll(definitions)) {
    if (found.index < at) continue
    const [whole, table, option] = found
    const start = found.index + whole.length
    const end = table === undefined ? endOf(code, code.indexOf("(", start)) : endOf(code, start)
    if (option !== undefined) options.push(option)
    if (table !== undefined) columns.push(...keysOf(code.slice(start, end)).map((name) => `${table}.${name}`))
    rest += code.slice(at, found.index)
    at = end
  }
  return { columns, options, rest: (rest + code.slice(at)).replace(bodies, "") }
}

/** Whether code names a column, in SQL too; `star1` may be built of its stem and a number. */
const isNamed = (rest: string, name: string): boolean => {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const stem = name.replace(/\d+$/, "")
  return new RegExp(`\\b(${name}|${snake})\\b`).test(rest) || stem !== name && rest.includes(`${stem}\${`)
}

/** Columns and options of a plugin's sources that no code but their definition and bodies names. */
const withoutEffect = (sources: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { columns, options, rest } = declaredIn(sources.map(withoutComments).join("\n"))
  return [
    ...columns.filter((column) => !isNamed(rest, column.slice(column.indexOf(".") + 1))),
    ...options.filter((option) => !isNamed(rest, option)).map((option) => `option ${option}`)
  ]
}

/** Columns that have no effect yet. The list may only shrink. */
const known: Readonly<Record<string, ReadonlyArray<string>>> = {}

const official = readdirSync(root).filter((id) => id !== "kit")

describe("each column and option of a plugin", () => {
  it.each(official)("has an effect in %s, or is marked as kept for people only", (id) => {
    const sources = sourcesIn(join(root, id))
    assert.isNotEmpty(declaredIn(sources.join("\n")).columns)
    assert.deepStrictEqual(withoutEffect(sources), known[id] ?? [])
  })

  it("is found when nothing but its definition and bodies names it", () => {
    const definitions = `/** Reads unused and unread. */
      const rows = table("rows", { used: text, unused: text.nullable, inSql: integer, remark: text.forPeople,
        about: jsonOf(Schema.Struct({ inner: Text })) }, { indexes: [{ columns: ["used"] }] })
      const lines = childOf(rows, "rowId", "lines", { rowId: uuid.references(rows), forgotten: text })
      const settings = { read: option(Schema.Int, { default: 1, description: "x" }), unread: option<Adapter>({ description: "x" }) }`
    const uses = `const body = inputOf(rows, { required: ["used"], optional: ["unused", "forgotten"] })
      sql\`select in_sql from rows where about = used\`; read(settings.read); line.rowId`
    assert.deepStrictEqual(withoutEffect([definitions, uses]), ["rows.unused", "lines.forgotten", "option unread"])
  })
})
