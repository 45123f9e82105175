import { readCell, writeCell } from "./CsvCell.ts"
import type { CsvColumns, CsvFields } from "./CsvColumns.ts"
import type { FileRow } from "./Import.ts"

/** A record of a CSV file with the line of the text it begins on. */
export interface CsvLine {
  readonly line: number
  readonly cells: ReadonlyArray<string>
}

/** Reads records from the lines of a table with a valid header; a record can span several lines. */
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

/** Maximum number of lines of one record. */
const maxLines = 2500

/** A row with the problem that makes its lines invalid. */
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

/** Reads consecutive lines with the same key as one record. A line without a key continues the record before it. */
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

/** The fields of a row's cells; an empty cell clears its field or omits it. */
const valuesOf = (row: Row, header: ReadonlySet<string>, { cleared, types }: CsvFields, prefix = "", suffix = "") =>
  Object.fromEntries(
    Object.entries(types).flatMap(([name, type]): ReadonlyArray<readonly [string, unknown]> => {
      const column = `${prefix}${name}${suffix}`
      const cell = row.get(column)
      if (cell !== undefined) return [[name, readCell(type, cell)]]
      return header.has(column) && cleared.includes(name) ? [[name, type === "list" ? [] : null]] : []
    })
  )

const hasAny = (row: Row, { types }: CsvFields, prefix = "", suffix = ""): boolean =>
  Object.keys(types).some((name) => row.has(`${prefix}${name}${suffix}`))

const localeColumn = /^(\w+):(.{1,64})$/

/** The record of some lines; its schema decides whether it is a valid one. */
const recordOf = (columns: CsvColumns, names: ReadonlyArray<string>) => {
  const { lines, texts } = columns
  const header = new Set(names)
  const named = new Set(names.flatMap((name) => localeColumn.exec(name)?.[2] ?? []))
  const locales = [["en", ""] as const, ...[...named].map((locale) => [locale, `:${locale}`] as const)]
  return (rows: ReadonlyArray<Row>) => {
    const first = rows[0] ?? new Map<string, string>()
    const attributes = texts === undefined ?
      [] :
      locales.flatMap(([locale, suffix]) =>
        hasAny(first, texts, "", suffix) ? [{ locale, ...valuesOf(first, header, texts, "", suffix) }] : []
      )
    const elements = lines === undefined ? [] : rows.filter((row) => hasAny(row, lines, lines.prefix))
      .map((row) => valuesOf(row, header, lines, lines.prefix))
    return {
      ...valuesOf(first, header, columns),
      ...(attributes.length === 0 ? {} : { attributes }),
      ...(lines === undefined || (lines.isOptional && elements.length === 0) ? {} : { [lines.field]: elements })
    }
  }
}

/** Reads files with these columns. */
export const csvTable = (columns: CsvColumns): TableFormat => {
  const { ignored, lines, texts, types } = columns
  const known = new Set([
    ...Object.keys(types),
    ...ignored ?? [],
    ...Object.keys(texts?.types ?? {}),
    ...Object.keys(lines?.types ?? {}).map((name) => `${lines?.prefix}${name}`)
  ])
  const isKnown = (name: string) =>
    known.has(name) || Object.hasOwn(texts?.types ?? {}, localeColumn.exec(name)?.[1] ?? "")
  return {
    open: (header) => {
      const problem = headerProblem(header, isKnown, columns.required)
      if (problem !== undefined) return { problem }
      const record = recordOf(columns, header)
      return lines === undefined
        ? lineReader(header, (row) => record([row]))
        : groupingReader(header, lines.key, record)
    }
  }
}

/** The header of files with these columns, with texts in these locales. */
export const csvHeader = (
  { lines, texts, types }: CsvColumns,
  locales: ReadonlyArray<string>
): ReadonlyArray<string> => [
  ...Object.keys(types),
  ...locales.flatMap((locale) =>
    Object.keys(texts?.types ?? {}).map((name) => locale === "en" ? name : `${name}:${locale}`)
  ),
  ...Object.keys(lines?.types ?? {}).map((name) => `${lines?.prefix}${name}`)
]

type Values = Readonly<Record<string, unknown>>

const cellsOf = (fields: CsvFields | undefined, values: Values | undefined): ReadonlyArray<string> =>
  Object.entries(fields?.types ?? {}).map(([name, type]) => values === undefined ? "" : writeCell(type, values[name]))

const isValues = (value: unknown): value is Values => typeof value === "object" && value !== null

const listOf = (record: Values, field: string | undefined): ReadonlyArray<Values> => {
  const list = field === undefined ? undefined : record[field]
  return Array.isArray(list) ? list.filter(isValues) : []
}

/** The lines of a record. Lines after the first repeat its key and none of its other columns. */
export const csvLines = (
  columns: CsvColumns,
  record: Values,
  locales: ReadonlyArray<string>
): ReadonlyArray<ReadonlyArray<string>> => {
  const { lines, texts } = columns
  const attributes = new Map(listOf(record, "attributes").map((one) => [one["locale"] ?? "en", one]))
  const [first, ...rest] = listOf(record, lines?.field)
  const line = (own: Values, textsOf: (locale: string) => Values | undefined, element: Values | undefined) => [
    ...cellsOf(columns, own),
    ...locales.flatMap((locale) => cellsOf(texts, textsOf(locale))),
    ...cellsOf(lines, element)
  ]
  const key = lines === undefined ? {} : { [lines.key]: record[lines.key] }
  return [
    line(record, (locale) => attributes.get(locale), first),
    ...rest.map((element) => line(key, () => undefined, element))
  ]
}

const pick = ({ types }: CsvFields, values: Values) =>
  Object.fromEntries(Object.keys(types).map((name) => [name, values[name] ?? null]))

/** A record with its fields in column order; jsonb sorts keys by length. */
export const jsonRecord = (columns: CsvColumns, record: Values): Values => {
  const { lines } = columns
  const elements = lines === undefined ? {} : {
    [lines.field]: listOf(record, lines.field).map((element) => pick(lines, element))
  }
  return { ...pick(columns, record), ...elements }
}
