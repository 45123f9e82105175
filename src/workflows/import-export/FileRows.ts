import { Result } from "effect"
import { csvColumns } from "../../domain/import-export/CsvColumns.ts"
import { csvTable, type TableFormat, wrongRow } from "../../domain/import-export/CsvTable.ts"
import type { FileRow, ImportOptions } from "../../domain/import-export/Import.ts"
import { shopifyTable } from "../../domain/import-export/ShopifyTable.ts"
import { wooTable } from "../../domain/import-export/WooTable.ts"
import { readJson } from "../../domain/text/JsonText.ts"
import { isStorableJson } from "../../domain/text/Storable.ts"
import { csvLines } from "./CsvLines.ts"
import { unreadable } from "./FileRefused.ts"
import { textLines } from "./TextLines.ts"

const notStorable = "It holds text that cannot be stored: NUL, broken Unicode, or too many levels."

/** Replaces rows the database could not even stage. */
const storable = (row: FileRow): FileRow =>
  row.problem !== null || isStorableJson(row.record) ? row : wrongRow(row.line, notStorable)

async function* jsonRows(text: AsyncIterable<string>): AsyncGenerator<FileRow> {
  let line = 0
  for await (const one of textLines(text)) {
    line++
    if (one.trim() === "") continue
    const read = readJson(one)
    if (Result.isFailure(read)) {
      yield wrongRow(line, "The line is not JSON.")
      continue
    }
    const record = read.success
    const isRecord = typeof record === "object" && record !== null && !Array.isArray(record)
    yield isRecord ? storable({ line, record, problem: null }) : wrongRow(line, "The line is not a JSON object.")
  }
}

async function* tableRows(text: AsyncIterable<string>, format: TableFormat): AsyncGenerator<FileRow> {
  const lines = csvLines(text)
  const head = await lines.next()
  if (head.done === true) throw unreadable("The file is empty: its first line names the columns.")
  const header = head.value.cells.map((name) => name.trim())
  const reader = format.open(header)
  if ("problem" in reader) throw unreadable(reader.problem)
  for await (const line of lines) {
    for (const row of reader.add(line)) yield storable(row)
  }
  for (const row of reader.end()) yield storable(row)
}

const tableOf = ({ format, kind }: ImportOptions): TableFormat =>
  format === "shopify" ? shopifyTable : format === "woocommerce" ? wooTable : csvTable(csvColumns[kind])

/** The records of a file, one after the other: never more than one is in memory. */
export const fileRows = (text: AsyncIterable<string>, options: ImportOptions): AsyncIterable<FileRow> =>
  options.format === "jsonl" ? jsonRows(text) : tableRows(text, tableOf(options))
