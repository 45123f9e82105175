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

  it("returns every text unchanged, and writes no cell that a spreadsheet would run", () => {
    for (const text of ["=1", "+1", "-1", "@a", "'=1", "''=1", "'90s", "'", "", "a=1", "\t=1", "\r", "\n1"]) {
      const cell = guardText(text)
      assert.strictEqual(unguardText(cell), text)
      assert.notMatch(cell, /^[=+\-@\t\r\n]/)
    }
  })
})
