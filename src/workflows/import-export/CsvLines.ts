import { CsvError, type Info, parse } from "csv-parse"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { CsvLine } from "../../domain/import-export/CsvTable.ts"
import { tooLarge, unreadable } from "./FileRefused.ts"

/** Maximum characters of a line: more than the largest description, and limited to protect memory. */
const maxLine = 1_048_576

interface Parsed {
  readonly record: ReadonlyArray<string>
  readonly info: Info
}

const explained = (error: unknown): unknown => {
  if (!(error instanceof CsvError)) return error
  return error.code === "CSV_MAX_RECORD_SIZE"
    ? tooLarge(`Line ${error["lines"]} is longer than ${maxLine} characters.`)
    : unreadable(`The file is not CSV: ${error.message}`)
}

/**
 * The records of a CSV file: commas, quotes around cells that need them, any line ends (RFC 4180 and variants). Quotes
 * inside a cell that does not begin with one are text.
 */
export async function* csvLines(text: AsyncIterable<string>): AsyncGenerator<CsvLine> {
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
