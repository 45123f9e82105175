import { Result } from "effect"
import {
  csvColumns,
  csvTable,
  type GatheringReader,
  maxLines,
  type OpenTable,
  type Row,
  type TableReader
} from "../../domain/import-export/CsvTable.ts"
import { externalTable } from "../../domain/import-export/external/ExternalTables.ts"
import { type FileRow, type ImportOptions, isExternal } from "../../domain/import-export/Import.ts"
import { isStorableJson, readJson } from "../../domain/platform/text/Storable.ts"
import { type CsvRow, longLine, maxLine, openCsv } from "./CsvText.ts"
import { type Arrival, FileUnreadable, readAs } from "./FileText.ts"

async function* textLines(text: AsyncIterable<string>): AsyncGenerator<string> {
  let [left, line] = ["", 1]
  const checked = (one: string): string => {
    if (one.length > maxLine) throw longLine(line)
    return one.endsWith("\r") ? one.slice(0, -1) : one
  }
  for await (const piece of text) {
    const parts = `${left}${piece}`.split("\n")
    left = parts.pop() ?? ""
    for (const part of parts) {
      yield checked(part)
      line++
    }
    checked(left)
  }
  if (left !== "") yield checked(left)
}

const wrongRow = (line: number, problem: string): FileRow => ({ line, record: null, problem })

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
    yield isRecord ? { line, record, problem: null } : wrongRow(line, "The line is not a JSON object.")
  }
}

/** Every row is a part of a record. */
async function* gatheredRows(rows: AsyncIterable<CsvRow>, table: GatheringReader): AsyncGenerator<FileRow> {
  let line = 1
  const partOf = ({ key, row }: { readonly key: string; readonly row: Row }): FileRow => ({
    line,
    key,
    record: table.recordOf([row], key),
    problem: null
  })
  for await (const { cells, line: at, problem } of rows) {
    line = at
    const found = problem === null ? table.take(cells) : { problem }
    if ("problem" in found) yield wrongRow(line, found.problem)
    else yield* found.map(partOf)
  }
  yield* table.rest().map(partOf)
}

/** Rows with one key that follow each other are a record. */
async function* groupedRows(rows: AsyncIterable<CsvRow>, { keyOf, recordOf }: TableReader): AsyncGenerator<FileRow> {
  let group: { readonly line: number; readonly key: string; readonly rows: Array<Row> } | undefined
  const ended = (): ReadonlyArray<FileRow> => {
    if (group === undefined) return []
    const { key, line, rows } = group
    if (rows.length > maxLines) return [wrongRow(line, `A record of more than ${maxLines} lines.`)]
    return [{ line, record: recordOf(rows, key), problem: null }]
  }
  for await (const { cells, line, problem } of rows) {
    const found = problem === null ? keyOf(cells, line) : { problem }
    if (typeof found === "object") {
      yield* [...ended(), wrongRow(line, found.problem)]
      group = undefined
    } else if (group !== undefined && (found === undefined || found === group.key)) {
      // One more than are taken: the record is refused, and what else it has stays out of memory.
      if (group.rows.length <= maxLines) group.rows.push(cells)
    } else {
      yield* ended()
      group = { line, key: found ?? "", rows: [cells] }
    }
  }
  yield* ended()
}

async function* tableRows(text: AsyncIterable<string>, open: OpenTable, arrival: Arrival): AsyncGenerator<FileRow> {
  const { header, rows } = await openCsv(text, arrival)
  const table = open(header)
  if ("problem" in table) throw new FileUnreadable(`${table.problem} ${readAs(arrival)}`)
  yield* "take" in table ? gatheredRows(rows, table) : groupedRows(rows, table)
}

export const notStorable = "It holds text that cannot be stored: NUL, broken Unicode, or too many levels."

export async function* fileRows(
  text: AsyncIterable<string>,
  { format, kind }: Pick<ImportOptions, "format" | "kind">,
  arrival: Arrival
): AsyncGenerator<FileRow> {
  const rows = format === "jsonl"
    ? jsonRows(text)
    : tableRows(text, isExternal(format) ? externalTable(format) : csvTable(csvColumns[kind]), arrival)
  for await (const row of rows) {
    // The database could not even stage what is not storable.
    yield row.problem !== null || isStorableJson(row.record) ? row : wrongRow(row.line, notStorable)
  }
}
