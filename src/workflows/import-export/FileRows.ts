import { CsvError, type Info, parse } from "csv-parse"
import { Data, Result } from "effect"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { csvColumns } from "../../domain/import-export/CsvColumns.ts"
import { type CsvLine, csvTable, type OpenTable, wrongRow } from "../../domain/import-export/CsvTable.ts"
import { externalTables } from "../../domain/import-export/ExternalFormats.ts"
import type { FileRow, ImportOptions } from "../../domain/import-export/Import.ts"
import { isExternal } from "../../domain/import-export/Kind.ts"
import { readJson } from "../../domain/text/JsonText.ts"
import { isStorableJson } from "../../domain/text/Storable.ts"

/** A file that cannot be read at all, or is larger than files may be. */
export class FileRefused extends Data.TaggedError("FileRefused")<{
  readonly reason: "unreadable" | "too large"
  readonly message: string
}> {}

const unreadable = (message: string) => new FileRefused({ reason: "unreadable", message })
const tooLarge = (message: string) => new FileRefused({ reason: "too large", message })

/** What is counted while a file arrives. */
export interface Arrival {
  bytes: number
}

const mebibyte = 1_048_576

/** Maximum characters of a line: more than the largest description, and limited to protect memory. */
const maxLine = 1_048_576

const longLine = (line: unknown) => tooLarge(`Line ${line} is longer than ${maxLine} characters.`)

/** Spreadsheets often write UTF-16, and "not UTF-8" alone would not tell the user what to do. */
const refuseUtf16 = ([first, second]: Uint8Array): void => {
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw unreadable("The file is UTF-16. Save it as UTF-8 (in a spreadsheet: CSV UTF-8).")
  }
}

/**
 * The text of a file in chunks, without its byte order mark. Refuses bytes that are not UTF-8: replacement characters
 * would be stored.
 */
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
      throw unreadable(`The file is not UTF-8, near byte ${arrival.bytes}.`)
    }
  }
  for await (const chunk of bytes) {
    if (arrival.bytes === 0) refuseUtf16(chunk)
    arrival.bytes += chunk.length
    if (arrival.bytes > maxBytes) throw tooLarge(`The file exceeds the limit of ${maxBytes / mebibyte} MB.`)
    yield decode(chunk)
  }
  yield decode()
}

/** The lines of a text without their ends, LF or CRLF. */
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
    : unreadable(`The file is not CSV: ${error.message}`)
}

interface Parsed {
  readonly record: ReadonlyArray<string>
  readonly info: Info
}

/**
 * The records of a CSV file: commas, quotes around cells that need them, any line ends (RFC 4180 and variants). Quotes
 * inside a cell that does not begin with one are text.
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
    for await (const { info, record } of parser as AsyncIterable<Parsed>) {
      yield { line, cells: record }
      line = info.lines + 1
    }
  } catch (error) {
    throw explained(error)
  }
}

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

async function* tableRows(text: AsyncIterable<string>, open: OpenTable): AsyncGenerator<FileRow> {
  const lines = csvLines(text)
  const head = await lines.next()
  if (head.done === true) throw unreadable("The file is empty: its first line names the columns.")
  const reader = open(head.value.cells.map((name) => name.trim()))
  if ("problem" in reader) throw unreadable(reader.problem)
  for await (const line of lines) yield* reader.add(line)
  yield* reader.end()
}

const notStorable = "It holds text that cannot be stored: NUL, broken Unicode, or too many levels."

/** The records of a file, one after the other: never more than one is in memory. */
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
