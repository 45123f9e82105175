import type { FileRow } from "./Import.ts"

/** A line of a CSV file, and on which line of the text it begins. */
export interface CsvLine {
  readonly line: number
  readonly cells: ReadonlyArray<string>
}

/** Reads records out of the lines of a table. Its header was looked at; a record may take several lines. */
export interface TableReader {
  /** The records that the line ended. */
  readonly add: (line: CsvLine) => ReadonlyArray<FileRow>
  /** The last record. */
  readonly end: () => ReadonlyArray<FileRow>
}

/** How tables of one kind are read. */
export interface TableFormat {
  /** A reader for a table of this header, or what is wrong with that. */
  readonly open: (header: ReadonlyArray<string>) => TableReader | { readonly problem: string }
}

/** The cells of a line by the names of their columns; empty ones are left out. */
export type Row = ReadonlyMap<string, string>

/** The cells of a line by the names of their columns. */
export const namedRow = (header: ReadonlyArray<string>, { cells }: CsvLine): Row =>
  new Map(header.flatMap((name, index) => {
    const cell = cells[index]
    return cell === undefined || cell === "" ? [] : [[name, cell] as const]
  }))

/** Why a header cannot be read. */
export const headerProblem = (
  header: ReadonlyArray<string>,
  isKnown: (name: string) => boolean,
  needed: ReadonlyArray<string>
): string | undefined => {
  const twice = header.find((name, index) => header.indexOf(name) !== index)
  if (twice !== undefined) return `The column "${twice}" is there twice.`
  const missing = needed.filter((name) => !header.includes(name))
  if (missing.length > 0) return `The column "${missing.join("\", \"")}" is missing.`
  const unknown = header.filter((name) => !isKnown(name))
  return unknown.length === 0 ? undefined : `There is no column "${unknown.join("\", \"")}" in files of this kind.`
}

/** Most lines of one record. */
const maxLines = 2500

/** A row that says why its lines are none. */
export const wrongRow = (line: number, problem: string): FileRow => ({ line, record: null, problem })

/** A line with more cells than there are columns. */
export const tooWide = ({ cells, line }: CsvLine, header: ReadonlyArray<string>): FileRow =>
  wrongRow(line, `${cells.length} cells for ${header.length} columns.`)

/** Reads a table in which each line is a record. */
export const lineReader = (
  header: ReadonlyArray<string>,
  recordOf: (row: Row) => unknown
): TableReader => ({
  add: (line) =>
    line.cells.length > header.length
      ? [tooWide(line, header)]
      : [{ line: line.line, record: recordOf(namedRow(header, line)), problem: null }],
  end: () => []
})

/**
 * Reads a table in which lines with the same key follow each other as one record. A line without a key goes on with the
 * record before it.
 */
export const groupingReader = (
  header: ReadonlyArray<string>,
  key: string,
  recordOf: (rows: ReadonlyArray<Row>) => unknown
): TableReader => {
  let group: { readonly line: number; readonly key: string; readonly rows: Array<Row>; lines: number } | undefined
  const close = (): ReadonlyArray<FileRow> => {
    const done = group
    group = undefined
    if (done === undefined) return []
    return done.lines > maxLines
      ? [wrongRow(done.line, `A record of more than ${maxLines} lines.`)]
      : [{ line: done.line, record: recordOf(done.rows), problem: null }]
  }
  return {
    add: (line) => {
      if (line.cells.length > header.length) return [...close(), tooWide(line, header)]
      const row = namedRow(header, line)
      const own = row.get(key)
      if (group !== undefined && (own === undefined || own === group.key)) {
        group.lines += 1
        if (group.lines <= maxLines) group.rows.push(row)
        return []
      }
      const done = close()
      group = { line: line.line, key: own ?? "", rows: [row], lines: 1 }
      return done
    },
    end: close
  }
}
