import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), "utf8")

const [tested = "", untested = ""] = read("docs/defects.md").split("## Not yet tested")

/** The cells of each row of the tables in a text, without their heads. */
const rowsIn = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text.split("\n")
    .filter((line, at, lines) => line.startsWith("| ") && lines[at + 1]?.startsWith("|---") !== true)
    .map((line) => line.slice(2, -2).split(" | "))

/** The tests that a cell names: a file, and the titles behind it. */
const testsIn = (cell: string) =>
  [...cell.matchAll(/`(test\/[\w./-]+)`: ((?:"[^"]+"(?:; )?)+)/g)].flatMap(([, file = "", titles = ""]) =>
    [...titles.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => ({ file, title }))
  )

/** A title as the file writes it; `…` stands for what the test fills in. */
const written = (title: string): RegExp => {
  const parts = title.split("…").map((part) => part.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&"))
  return new RegExp(`["\`]${parts.join("\\$\\{[^`]+?\\}")}["\`]`)
}

const isThere = ({ file, title }: { readonly file: string; readonly title: string }): boolean =>
  existsSync(join(root, file)) && written(title).test(read(file))

describe("the page of known defects", () => {
  it("has a row of three cells for each, and a test for each that is avoided", () => {
    const rows = rowsIn(tested)
    assert.isAbove(rows.length, 60)
    assert.deepStrictEqual(rows.filter((cells) => cells.length !== 3 || testsIn(cells[2] ?? "").length === 0), [])
    // Every quoted text must be read as a title, or no test would check it.
    const quoted = rows.flatMap(([, , cell = ""]) => cell.match(/"[^"]+"/g) ?? [])
    assert.strictEqual(rows.flatMap(([, , cell = ""]) => testsIn(cell)).length, quoted.length)
  })

  it("names only tests that exist, by their titles", () => {
    const absent = rowsIn(tested).flatMap(([, , cell = ""]) => testsIn(cell)).filter((one) => !isThere(one))
    assert.deepStrictEqual(absent, [])
  })

  it("names no test where there is none yet", () => {
    assert.deepStrictEqual(rowsIn(untested).filter((cells) => /test\//.test(cells.join())), [])
  })

  it("would miss a test that is not there", () => {
    const file = "test/architecture/Defects.test.ts"
    assert.isFalse(isThere({ file, title: ["would miss", "another one"].join(" ") }))
    assert.isFalse(isThere({ file: "test/architecture/None.test.ts", title: "would miss a test that is not there" }))
    assert.isTrue(isThere({ file, title: "would miss a test that is not there" }))
  })
})
