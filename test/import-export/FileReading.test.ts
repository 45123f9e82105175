import { assert, describe, it } from "@effect/vitest"
import { guardText, unguardText } from "../../src/domain/import-export/CsvTable.ts"
import { fileRows, textOf } from "../../src/workflows/import-export/FileRows.ts"

const options = { kind: "catalog", format: "csv" } as const

const mebibyte = 1_048_576

describe("a file", () => {
  it("keeps characters that are split between its chunks", async () => {
    const bytes = Buffer.from("slug,type\ncafé,product\nнож,product\n")
    async function* oneByOne() {
      for (const byte of bytes) yield new Uint8Array([byte])
    }
    const slugs: Array<unknown> = []
    for await (const { record } of fileRows(textOf(oneByOne(), { bytes: 0 }, mebibyte), options)) slugs.push(record)
    assert.deepStrictEqual(slugs, [{ slug: "café", type: "product" }, { slug: "нож", type: "product" }])
  })

  it("takes records of up to 2,500 lines, and refuses a longer one alone", async () => {
    async function* file() {
      yield Buffer.from("slug,type,variant.sku\n")
      for (const [slug, lines] of [["full", 2_500], ["long", 2_501], ["next", 1]] as const) {
        for (let n = 0; n < lines; n++) yield Buffer.from(`${slug},product,${slug}-${n}\n`)
      }
    }
    const problems: Array<string | null> = []
    for await (const { problem } of fileRows(textOf(file(), { bytes: 0 }, mebibyte), options)) problems.push(problem)
    assert.deepStrictEqual(problems, [null, "A record of more than 2500 lines.", null])
  })

  it("returns every text unchanged, and writes no cell that a spreadsheet would run", () => {
    for (const text of ["=1", "+1", "-1", "@a", "'=1", "''=1", "'90s", "'", "", "a=1", "\t=1", "\r", "\n1"]) {
      const cell = guardText(text)
      assert.strictEqual(unguardText(cell), text)
      assert.notMatch(cell, /^[=+\-@\t\r\n]/)
    }
  })
})
