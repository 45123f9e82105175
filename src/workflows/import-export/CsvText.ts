import { CsvError, type Info, parse } from "csv-parse"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { Row } from "../../domain/import-export/CsvTable.ts"
import { PayloadTooLarge } from "../../domain/platform/errors/ApiErrors.ts"
import { type Arrival, FileUnreadable } from "./FileText.ts"

/** Characters of a line. */
export const maxLine = 1_048_576

export const longLine = (line: unknown) => PayloadTooLarge.of(`Line ${line} is longer than ${maxLine} characters.`)

const explained = (error: unknown): unknown => {
  if (!(error instanceof CsvError)) return error
  return error.code === "CSV_MAX_RECORD_SIZE"
    ? longLine(error["lines"])
    : new FileUnreadable(`The file is not CSV: ${error.message}`)
}

/** Where the first line ends, behind its end; line ends between quotes belong to it. Undefined: it goes on. */
const endOfLine = (text: string, isWhole: boolean): number | undefined => {
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]
    if (sign === "\"") isQuoted = !isQuoted
    else if (!isQuoted && sign === "\n") return at + 1
    else if (!isQuoted && sign === "\r" && (isWhole || at + 1 < text.length)) {
      return at + (text[at + 1] === "\n" ? 2 : 1)
    }
  }
  return isWhole ? text.length : undefined
}

const named = /^"?sep=(.)"?(?:\r\n?|\n)$/i

const found = [",", ";", "\t"] as const

const countOf = (line: string, sign: string): number => line.split(sign).length

/** The sign that most often stands between the names of columns. */
const separatorOf = (line: string): string => {
  const bare = line.replace(/"[^"]*"/g, "")
  return found.reduce<string>((best, sign) => countOf(bare, sign) > countOf(bare, best) ? sign : best, ",")
}

/** Reads the beginning of a table: what separates its cells, and the text from its header on. */
const opened = async (text: AsyncIterable<string>) => {
  const pieces = text[Symbol.asyncIterator]()
  let [begun, isWhole] = ["", false]
  let end = endOfLine(begun, isWhole)
  while (end === undefined) {
    const next = begun.length > maxLine ? { done: true as const } : await pieces.next()
    if (next.done === true) isWhole = true
    else begun += next.value
    end = endOfLine(begun, isWhole)
  }
  const first = begun.slice(0, end)
  const [, sign] = named.exec(first) ?? []
  if (sign !== undefined) begun = begun.slice(first.length)
  const separator = sign ?? separatorOf(first)
  async function* rest(): AsyncGenerator<string> {
    yield begun
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value
  }
  return { separator, text: rest(), line: sign === undefined ? 1 : 2 }
}

interface CsvLine {
  readonly line: number
  readonly cells: ReadonlyArray<string>
}

/**
 * Cells with quotes around those that need them, any line ends (RFC 4180 and variants). Quotes inside a cell that does
 * not begin with one are text.
 */
async function* csvLines(text: AsyncIterable<string>, separator: string, first: number): AsyncGenerator<CsvLine> {
  const parser = parse({
    delimiter: separator,
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: maxLine
  })
  // The parser passes a failure of the source on to its reader, because the pipeline destroys the parser with it.
  pipeline(Readable.from(text), parser).catch(() => undefined)
  let line = first
  try {
    for await (
      const { info, record } of parser as AsyncIterable<{ readonly record: ReadonlyArray<string>; readonly info: Info }>
    ) {
      yield { line, cells: record }
      line = info.lines + first
    }
  } catch (error) {
    throw explained(error)
  }
}

/** Without the empty cells at the end, which spreadsheets write. */
const trimmed = (cells: ReadonlyArray<string>): ReadonlyArray<string> =>
  cells.slice(0, cells.findLastIndex((cell) => cell !== "") + 1)

const namedRow = (header: ReadonlyArray<string>, cells: ReadonlyArray<string>): Row =>
  new Map(header.map((name, index) => [name, cells[index] ?? ""] as const).filter(([, cell]) => cell !== ""))

export interface CsvRow {
  readonly line: number
  /** By the names of their columns; empty cells are absent. */
  readonly cells: Row
  readonly problem: string | null
}

/** Reads the header of a CSV file, and its rows as they are asked for. Rows without a value are passed over. */
export const openCsv = async (text: AsyncIterable<string>, arrival: Arrival) => {
  const { line, separator, text: table } = await opened(text)
  arrival.separator = separator
  const lines = csvLines(table, separator, line)
  const head = await lines.next()
  if (head.done === true) throw new FileUnreadable("The file is empty: its first line names the columns.")
  const header = trimmed(head.value.cells.map((name) => name.trim()))
  async function* rows(): AsyncGenerator<CsvRow> {
    for await (const { cells: all, line } of lines) {
      const cells = trimmed(all)
      if (cells.length === 0) continue
      const problem = cells.length > header.length ? `${cells.length} cells for ${header.length} columns.` : null
      yield { line, cells: namedRow(header, cells), problem }
    }
  }
  return { header, rows: rows() }
}
