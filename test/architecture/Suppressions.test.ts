import { assert, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"

const root = resolve(import.meta.dirname, "../..")

// Written in halves, so that this file does not find itself.
const suppression = new RegExp(["(ox|es)lint-" + "disable", "@ts-" + "nocheck", "@effect-" + "diagnostics"].join("|"))

const sources = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?[jt]s$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))

it("no file turns a check off", () => {
  const offenders = ["src", "test", "scripts"].flatMap(sources)
    .filter((file) => suppression.test(readFileSync(file, "utf8")))
    .map((file) => relative(root, file))

  assert.deepStrictEqual(offenders, [])
})

it("a comment that turns a check off is recognised", () => {
  for (const tool of ["// oxlint", "/* eslint"]) assert.match(`${tool}-disable-next-line no-var`, suppression)
})
