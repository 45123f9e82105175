import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { readCsv } from "stoa/plugin"

const read = (file: string | Uint8Array, required: ReadonlyArray<string> = []) =>
  Effect.runPromise(Effect.result(readCsv(typeof file === "string" ? new TextEncoder().encode(file) : file, required)))

describe("a CSV file that a plugin reads", () => {
  it("has rows by the names of its columns, each with its line and its problem", async () => {
    const file = "\ufeffname, note ,n\r\nAda,\"one, \"\"two\"\"\nthree\",1\r\nBob,,2\r\nEve,x,3,4\r\nNul,\0,5\r\n"
    const { header, rows } = Result.getOrThrow(await read(file, ["name"]))
    assert.deepStrictEqual(header, ["name", "note", "n"])
    assert.deepStrictEqual(rows.map(({ cells, line, problem }) => [line, Object.fromEntries(cells), problem]), [
      [2, { name: "Ada", note: "one, \"two\"\nthree", n: "1" }, null],
      [4, { name: "Bob", n: "2" }, null],
      [5, { name: "Eve", note: "x", n: "3" }, "4 cells for 3 columns."],
      [
        6,
        { name: "Nul", note: "\0", n: "5" },
        "It holds text that cannot be stored: NUL, broken Unicode, or too many levels."
      ]
    ])
  })

  it("is refused with a sentence when it cannot be read or lacks a column", async () => {
    const files = ["", "a,b,a\n1,2,3\n", "a\n1\n", Uint8Array.of(0xff, 0xfe, 0x61, 0), Uint8Array.of(0x61, 0xff)]
    const messages = await Promise.all(files.map(async (file) => {
      const { message, path } = Object(Result.getOrThrow(Result.flip(await read(file, ["b"]))).error).details.issues[0]
      return `${path}: ${message}`
    }))
    assert.deepStrictEqual(messages, [
      "file: The file is empty: its first line names the columns.",
      "file: The column \"a\" is there twice. The file was read as UTF-8 with commas between its cells.",
      "file: The column \"b\" is missing. The file was read as UTF-8 with commas between its cells.",
      "file: The column \"b\" is missing. The file was read as UTF-16 with commas between its cells.",
      "file: The file is not UTF-8, near byte 2. Save it as UTF-8, or send encoding=windows-1252 if it is Windows-1252."
    ])
  })
})
