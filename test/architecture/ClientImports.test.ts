import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { dirname, relative, resolve } from "node:path"

/** What the package exports for programs that call the service; `config`, `hooks` and `jobs` are for those that are it. */
const entries = ["./client", "./client/rpc", "./client/events", "./rpc", "./money"]

const exported: Readonly<Record<string, string>> = JSON.parse(readFileSync("package.json", "utf8")).exports

/** Imports that remain when types are taken away. */
const importsOf = (file: string): ReadonlyArray<string> =>
  [...readFileSync(file, "utf8").matchAll(/^(?:import|export)\s+(?!type\b)(?:([\s\S]*?)\sfrom\s+)?"([^"]+)"/gm)]
    .filter(([, what = "x"]) => !/^\{(\s*type\s[^,}]+,?)+\s*\}$/.test(what))
    .map(([, , from = ""]) => from)

/** Every file that an entry loads, with the way to it, and every package. */
const loadedBy = (entry: string) => {
  const files = new Map<string, string>()
  const packages = new Map<string, string>()
  const visit = (file: string, way: string) => {
    const name = relative(process.cwd(), file)
    if (files.has(name)) return
    files.set(name, `${way} > ${name}`)
    for (const from of importsOf(file)) {
      if (from.startsWith(".")) visit(resolve(dirname(file), from), `${way} > ${name}`)
      else packages.set(from, `${way} > ${name}`)
    }
  }
  visit(resolve(entry), entry)
  return { files, packages }
}

const server = /Repo\.ts$|migrations\.ts$|^src\/(layers|entities|workflows|plugins)\/|(Layer|Http|Calls)\.ts$/
const serverPackage = /^(effect\/(sql|cluster|workflow)|@effect\/|pg|better-auth|stripe|node:(?!crypto$))/

describe("a program that imports a client", () => {
  for (const entry of entries) {
    it(`loads nothing of the server: ${entry}`, () => {
      const { files, packages } = loadedBy(exported[entry] ?? "")
      assert.isAbove(files.size, 1)
      assert.deepStrictEqual([...files].filter(([name]) => server.test(name)).map(([, way]) => way), [])
      assert.deepStrictEqual([...packages].filter(([name]) => serverPackage.test(name)).map(([, way]) => way), [])
    })
  }

  it("is looked at by a walk that sees the server where it is", () => {
    const { files, packages } = loadedBy("src/http/middleware/AccessLayer.ts")
    assert.isTrue([...files.keys()].some((name) => server.test(name)))
    assert.isTrue([...packages.keys()].some((name) => serverPackage.test(name)))
  })
})
