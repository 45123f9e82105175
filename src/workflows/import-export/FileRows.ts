import { CsvError, type Info, parse } from "csv-parse"
import { Result } from "effect"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { csvColumns, csvTable, type OpenTable, type Row } from "../../domain/import-export/CsvTable.ts"
import { externalTables } from "../../domain/import-export/ExternalFormats.ts"
import { type FileRow, type ImportOptions, isExternal } from "../../domain/import-export/Import.ts"
import { PayloadTooLarge } from "../../domain/platform/errors/ApiErrors.ts"
import { invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import { isStorableJson, readJson } from "../../domain/platform/text/Storable.ts"

export class FileUnreadable extends invalid("FileUnreadable", "file", (message: string) => message, "unreadable") {}

export interface Arrival {
  bytes: number
}

const mebibyte = 1_048_576

const maxLine = 1_048_576

const longLine = (line: unknown) => PayloadTooLarge.of(`Line ${line} is longer than ${maxLine} characters.`)

/** Spreadsheets often write UTF-16, and "not UTF-8" alone would not tell the user what to do. */
const refuseUtf16 = ([first, second]: Uint8Array): void => {
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new FileUnreadable("The file is UTF-16. Save it as UTF-8 (in a spreadsheet: CSV UTF-8).")
  }
}

/** Removes the byte order mark. Refuses bytes that are not UTF-8: replacement characters would be stored. */
export async function* textOf(
  bytes: AsyncIterable<Uint8Array>,
  arrival: Arrival,
  maxBytes: number
): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw new FileUnreadable(`The file is not UTF-8, near byte ${arrival.bytes}.`)
    }
  }
  for await (const chunk of bytes) {
    if (arrival.bytes === 0) refuseUtf16(chunk)
    arrival.bytes += chunk.length
    if (arrival.bytes > maxBytes) throw PayloadTooLarge.of(`The file exceeds the limit of ${maxBytes / mebibyte} MB.`)
    yield decode(chunk)
  }
  yield decode()
}

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

const explained = (error: unknown): unknown => {
  if (!(error instanceof CsvError)) return error
  return error.code === "CSV_MAX_RECORD_SIZE"
    ? longLine(error["lines"])
    : new FileUnreadable(`The file is not CSV: ${error.message}`)
}

interface CsvLine {
  readonly line: number
  readonly cells: ReadonlyArray<string>
}

/**
 * Commas, quotes around cells that need them, any line ends (RFC 4180 and variants). Quotes inside a cell that does not
 * begin with one are text.
 */
async function* csvLines(text: AsyncIterable<string>): AsyncGenerator<CsvLine> {
  const parser = parse({
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: maxLine
  })
  // The parser passes a failure of the source on to its reader, because the pipeline destroys the parser with it.
  pipeline(Readable.from(text), parser).catch(() => undefined)
  let line = 1
  try {
    for await (
      const { info, record } of parser as AsyncIterable<{ readonly record: ReadonlyArray<string>; readonly info: Info }>
    ) {
      yield { line, cells: record }
      line = info.lines + 1
    }
  } catch (error) {
    throw explained(error)
  }
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

const maxLines = 2500

const namedRow = (header: ReadonlyArray<string>, cells: ReadonlyArray<string>): Row =>
  new Map(header.map((name, index) => [name, cells[index] ?? ""] as const).filter(([, cell]) => cell !== ""))

export interface CsvRow {
  readonly line: number
  /** By the names of their columns; empty cells are absent. */
  readonly cells: Row
  readonly problem: string | null
}

/** Reads the header of a CSV file, and its rows as they are asked for. */
export const openCsv = async (text: AsyncIterable<string>) => {
  const lines = csvLines(text)
  const head = await lines.next()
  if (head.done === true) throw new FileUnreadable("The file is empty: its first line names the columns.")
  const header = head.value.cells.map((name) => name.trim())
  async function* rows(): AsyncGenerator<CsvRow> {
    for await (const { cells, line } of lines) {
      const problem = cells.length > header.length ? `${cells.length} cells for ${header.length} columns.` : null
      yield { line, cells: namedRow(header, cells), problem }
    }
  }
  return { header, rows: rows() }
}

async function* tableRows(text: AsyncIterable<string>, open: OpenTable): AsyncGenerator<FileRow> {
  const { header, rows } = await openCsv(text)
  const table = open(header)
  if ("problem" in table) throw new FileUnreadable(table.problem)
  let group: { readonly line: number; readonly key: string; readonly rows: Array<Row> } | undefined
  const ended = (): ReadonlyArray<FileRow> => {
    if (group === undefined) return []
    const { key, line, rows } = group
    if (rows.length > maxLines) return [wrongRow(line, `A record of more than ${maxLines} lines.`)]
    return [{ line, record: table.recordOf(rows, key), problem: null }]
  }
  for await (const { cells, line, problem } of rows) {
    const key = problem === null ? table.keyOf(cells, line) : { problem }
    if (typeof key === "object") {
      yield* [...ended(), wrongRow(line, key.problem)]
      group = undefined
    } else if (group !== undefined && (key === undefined || key === group.key)) {
      // One more than are taken: the record is refused, and what else it has stays out of memory.
      if (group.rows.length <= maxLines) group.rows.push(cells)
    } else {
      yield* ended()
      group = { line, key: key ?? "", rows: [cells] }
    }
  }
  yield* ended()
}

export const notStorable = "It holds text that cannot be stored: NUL, broken Unicode, or too many levels."

export async function* fileRows(
  text: AsyncIterable<string>,
  { format, kind }: Pick<ImportOptions, "format" | "kind">
): AsyncGenerator<FileRow> {
  const rows = format === "jsonl"
    ? jsonRows(text)
    : tableRows(text, isExternal(format) ? externalTables[format] : csvTable(csvColumns[kind]))
  for await (const row of rows) {
    // The database could not even stage what is not storable.
    yield row.problem !== null || isStorableJson(row.record) ? row : wrongRow(row.line, notStorable)
  }
}
