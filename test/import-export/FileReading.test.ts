import { assert, describe, it } from "@effect/vitest"
import { guardText, unguardText } from "../../src/domain/import-export/CsvTable.ts"
import type { FileEncoding } from "../../src/domain/import-export/Import.ts"
import { ValidationFailed } from "../../src/domain/platform/errors/ApiErrors.ts"
import { fileRows } from "../../src/workflows/import-export/FileRows.ts"
import { type Arrival, textOf } from "../../src/workflows/import-export/FileText.ts"

const options = { kind: "catalog", format: "csv" } as const

const mebibyte = 1_048_576

/** What a table of these bytes has, or why it is refused. */
const readTable = async (bytes: Uint8Array, encoding?: FileEncoding) => {
  const arrival: Arrival = { bytes: 0 }
  async function* once() {
    yield bytes
  }
  const text = textOf(once(), arrival, mebibyte, encoding)
  try {
    return await Array.fromAsync(
      fileRows(text, options, arrival),
      ({ line, problem, record }) => [line, problem ?? record]
    )
  } catch (error) {
    return error instanceof ValidationFailed ? error.error.message : String(error)
  }
}

const product = (slug: string) => ({ slug, type: "product" })

describe("a file", () => {
  it("keeps characters that are split between its chunks", async () => {
    const bytes = Buffer.from("slug,type\ncafé,product\nнож,product\n")
    async function* oneByOne() {
      for (const byte of bytes) yield new Uint8Array([byte])
    }
    const slugs: Array<unknown> = []
    for await (const { record } of fileRows(textOf(oneByOne(), { bytes: 0 }, mebibyte), options, { bytes: 0 })) {
      slugs.push(record)
    }
    assert.deepStrictEqual(slugs, [{ slug: "café", type: "product" }, { slug: "нож", type: "product" }])
  })

  it("is read with the separator of its header, or the one that its first line names", async () => {
    for (const sign of [",", ";", "\t"]) {
      const file = ["slug,type", "a,product", "\"b,;\t\",product", ",,,", "c,product,,", ""].join("\r\n").replaceAll(
        ",",
        sign
      )
      const inQuotes = "b,;\t".replaceAll(",", sign)
      assert.deepStrictEqual(
        await readTable(Buffer.from(file)),
        [[2, product("a")], [3, product(inQuotes)], [5, product("c")]]
      )
    }
    const named = await readTable(Buffer.from("\ufeffsep=|\r\nslug|type\r\na;b,c|product\r\n"))
    assert.deepStrictEqual(named, [[3, product("a;b,c")]])
    assert.deepStrictEqual(await readTable(Buffer.from("sep=;\rslug;type\ra;product")), [[3, product("a")]])
    assert.deepStrictEqual(await readTable(Buffer.from("slug\na")), [[2, { slug: "a" }]])
  })

  it("is read as UTF-8, UTF-16 with or without a mark, or the encoding that was asked for", async () => {
    const text = "slug;type\ncafé – 100 €;product\n"
    const expected = [[2, product("café – 100 €")]]
    const little = Buffer.from(text, "utf16le")
    const big = Buffer.from(text, "utf16le").swap16()
    const marks = [Buffer.from("\ufeff"), Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])]
    for (const [index, bytes] of [Buffer.from(text), little, big].entries()) {
      assert.deepStrictEqual(await readTable(bytes), expected)
      const marked = Buffer.concat([marks[index] ?? Buffer.of(), bytes])
      assert.deepStrictEqual(await readTable(marked), expected)
      assert.deepStrictEqual(await readTable(marked, "windows-1252"), expected)
    }
    const windows = Buffer.from("slug;type\ncaf\xe9 \x96 100 \x80;product\n", "latin1")
    assert.deepStrictEqual(await readTable(windows, "windows-1252"), expected)
    assert.strictEqual(
      await readTable(windows),
      "The file is not UTF-8, near byte 31. Save it as UTF-8, or send encoding=windows-1252 if it is Windows-1252."
    )
    assert.strictEqual(await readTable(little.subarray(0, -1)), "The file is not UTF-16, near byte 61.")
  })

  it("that cannot be read is refused with what was found", async () => {
    assert.strictEqual(
      await readTable(Buffer.from("sku;type\na;product\n", "utf16le")),
      "The column \"slug\" is missing. The file was read as UTF-16 with semicolons between its cells."
    )
    assert.strictEqual(
      await readTable(Buffer.from("sep=|\nslug|kind\n")),
      "There is no column \"kind\" in files of this kind. The file was read as UTF-8 with the sign | between its cells."
    )
    assert.include(await readTable(Buffer.from("PK\x03\x04…")), "Save the sheet as CSV")
    assert.include(await readTable(Buffer.from([0x1f, 0x8b, 8, 0])), "compressed")
    assert.include(await readTable(Buffer.from("")), "The file is empty")
  })

  it("takes records of up to 2,500 lines, and refuses a longer one alone", async () => {
    async function* file() {
      yield Buffer.from("slug,type,variant.sku\n")
      for (const [slug, lines] of [["full", 2_500], ["long", 2_501], ["next", 1]] as const) {
        for (let n = 0; n < lines; n++) yield Buffer.from(`${slug},product,${slug}-${n}\n`)
      }
    }
    const problems: Array<string | null> = []
    for await (const { problem } of fileRows(textOf(file(), { bytes: 0 }, mebibyte), options, { bytes: 0 })) {
      problems.push(problem)
    }
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
