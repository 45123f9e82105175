import { assert, describe, it } from "@effect/vitest"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { guardText, unguardText } from "../../src/domain/import-export/CsvCell.ts"
import type { ImportOptions } from "../../src/domain/import-export/Import.ts"
import { fileRows, textOf } from "../../src/workflows/import-export/FileRows.ts"

const options: ImportOptions = {
  kind: "catalog",
  format: "csv",
  fileName: null,
  dryRun: false,
  currency: null,
  warehouse: null
}

const mebibyte = 1_048_576

/** A file of so many bytes that is made while it is read. */
async function* bytesOf(size: number, head: string, line: (n: number) => string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(head)
  for (let [sent, n] = [0, 0]; sent < size;) {
    let piece = ""
    while (piece.length < 65_536) piece += line(n++)
    sent += piece.length
    yield Buffer.from(piece)
  }
}

setFlagsFromString("--expose-gc")
const collect: unknown = runInNewContext("gc")

/** What is really held, without what nobody holds any more. */
const held = (): number => {
  if (typeof collect === "function") collect()
  return process.memoryUsage().heapUsed
}

const countRows = async (bytes: AsyncIterable<Uint8Array>, format: "csv" | "jsonl") => {
  const text = textOf(bytes, { bytes: 0 }, 1_000 * mebibyte)
  let [count, peak] = [0, 0]
  for await (const { problem } of fileRows(text, { ...options, format })) {
    if (problem !== null) throw new Error(problem)
    count++
    if (count % 10_000 === 0) peak = Math.max(peak, held())
  }
  return { count, peak }
}

describe("a file", () => {
  it("of any size takes no more memory than a small one", async () => {
    const description = "x".repeat(500)
    for (const format of ["csv", "jsonl"] as const) {
      const before = held()
      const { count, peak } = await countRows(
        format === "csv"
          ? bytesOf(48 * mebibyte, "slug,type,description\n", (n) => `p-${n},product,"${description}"\n`)
          : bytesOf(48 * mebibyte, "", (n) => `{"slug":"p-${n}","type":"product","d":"${description}"}\n`),
        format
      )
      assert.isAbove(count, 75_000)
      assert.isBelow((peak - before) / mebibyte, 16, format)
    }
  }, 60_000)

  it("has characters that are cut by the pieces it comes in", async () => {
    const bytes = Buffer.from("slug,type\ncafé,product\nнож,product\n")
    async function* oneByOne() {
      for (const byte of bytes) yield new Uint8Array([byte])
    }
    const slugs: Array<unknown> = []
    for await (const { record } of fileRows(textOf(oneByOne(), { bytes: 0 }, mebibyte), options)) slugs.push(record)
    assert.deepStrictEqual(slugs, [{ slug: "café", type: "product" }, { slug: "нож", type: "product" }])
  })

  it("gives every text back as it was, and no cell that a spreadsheet would run", () => {
    for (const text of ["=1", "+1", "-1", "@a", "'=1", "''=1", "'90s", "'", "", "a=1", "\t=1", "\r", "\n1"]) {
      const cell = guardText(text)
      assert.strictEqual(unguardText(cell), text)
      assert.notMatch(cell, /^[=+\-@\t\r\n]/)
    }
  })
})
