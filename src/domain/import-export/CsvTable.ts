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

/** A reader for a table of this header, or the problem of the header. */
export type OpenTable = (header: ReadonlyArray<string>) => TableReader | { readonly problem: string }

/** The cells of a line by the names of their columns; empty ones are left out. */
export type Row = ReadonlyMap<string, string>

const namedRow = (header: ReadonlyArray<string>, { cells }: CsvLine): Row =>
  new Map(header.flatMap((name, index) => {
    const cell = cells[index]
    return cell === undefined || cell === "" ? [] : [[name, cell] as const]
  }))

/** Why a header cannot be read. */
const headerProblem = (
  header: ReadonlyArray<string>,
  isKnown: (name: string) => boolean,
  required: ReadonlyArray<string>
): string | undefined => {
  const twice = header.find((name, index) => header.indexOf(name) !== index)
  if (twice !== undefined) return `The column "${twice}" is there twice.`
  const missing = required.filter((name) => !header.includes(name))
  if (missing.length > 0) return `The column "${missing.join("\", \"")}" is missing.`
  const unknown = header.filter((name) => !isKnown(name))
  return unknown.length === 0 ? undefined : `There is no column "${unknown.join("\", \"")}" in files of this kind.`
}

/** Maximum number of lines of one record. */
const maxLines = 2500

/** A row with the problem that makes its lines invalid. */
export const wrongRow = (line: number, problem: string): FileRow => ({ line, record: null, problem })

/** Where a line belongs: to the record with this key, undefined to the one before it; or its problem. */
export type KeyOf = (row: Row, line: number) => string | undefined | { readonly problem: string }

/** Reads consecutive lines with the same key as one record. */
export const groupingReader = (
  header: ReadonlyArray<string>,
  keyOf: KeyOf,
  recordOf: (rows: ReadonlyArray<Row>, key: string) => unknown
): TableReader => {
  let group: { readonly line: number; readonly key: string; readonly rows: Array<Row>; lines: number } | undefined
  const close = (): ReadonlyArray<FileRow> => {
    const done = group
    group = undefined
    if (done === undefined) return []
    return done.lines > maxLines
      ? [wrongRow(done.line, `A record of more than ${maxLines} lines.`)]
      : [{ line: done.line, record: recordOf(done.rows, done.key), problem: null }]
  }
  return {
    add: (one) => {
      const { cells, line } = one
      if (cells.length > header.length) {
        return [...close(), wrongRow(line, `${cells.length} cells for ${header.length} columns.`)]
      }
      const row = namedRow(header, one)
      const key = keyOf(row, line)
      if (typeof key === "object") return [...close(), wrongRow(line, key.problem)]
      if (group !== undefined && (key === undefined || key === group.key)) {
        group.lines += 1
        if (group.lines <= maxLines) group.rows.push(row)
        return []
      }
      const done = close()
      group = { line, key: key ?? "", rows: [row], lines: 1 }
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
const recordOf = ({ lines, texts, ...columns }: CsvColumns, names: ReadonlyArray<string>) => {
  const header = new Set(names)
  const locales = new Set(names.flatMap((name) => localeColumn.exec(name)?.[2] ?? []))
  const suffixes = [["en", ""] as const, ...[...locales].map((locale) => [locale, `:${locale}`] as const)]
  return (rows: ReadonlyArray<Row>) => {
    const first = rows[0] ?? new Map<string, string>()
    const attributes = suffixes.flatMap(([locale, suffix]) =>
      texts !== undefined && hasAny(first, texts, "", suffix)
        ? [{ locale, ...valuesOf(first, header, texts, "", suffix) }]
        : []
    )
    const elements = lines === undefined ? [] : rows.filter((row) => hasAny(row, lines, lines.prefix))
      .map((row) => valuesOf(row, header, lines, lines.prefix))
    const isLeftOut = lines === undefined || (lines.required.length === 0 && elements.length === 0)
    return {
      ...valuesOf(first, header, columns),
      ...(attributes.length === 0 ? {} : { attributes }),
      ...(isLeftOut ? {} : { [lines.field]: elements })
    }
  }
}

const prefixed = (names: ReadonlyArray<string>, prefix = "") => names.map((name) => `${prefix}${name}`)

/** The header of files with these columns, with texts in these locales. */
export const csvHeader = (
  { lines, texts, types }: CsvColumns,
  locales: ReadonlyArray<string>
): ReadonlyArray<string> => [
  ...Object.keys(types),
  ...locales.flatMap((locale) =>
    Object.keys(texts?.types ?? {}).map((name) => locale === "en" ? name : `${name}:${locale}`)
  ),
  ...prefixed(Object.keys(lines?.types ?? {}), lines?.prefix)
]

/** Reads files with these columns. A line without a key continues the record before it. */
export const csvTable = (columns: CsvColumns): OpenTable => {
  const { ignored, lines, required, texts } = columns
  const names = new Set([...csvHeader(columns, ["en"]), ...ignored])
  const isKnown = (name: string) =>
    names.has(name) || Object.hasOwn(texts?.types ?? {}, localeColumn.exec(name)?.[1] ?? "")
  return (header) => {
    const problem = headerProblem(header, isKnown, [...required, ...prefixed(lines?.required ?? [], lines?.prefix)])
    const keyOf: KeyOf = (row, line) => lines === undefined ? String(line) : row.get(lines.key)
    return problem === undefined ? groupingReader(header, keyOf, recordOf(columns, header)) : { problem }
  }
}

type Values = Readonly<Record<string, unknown>>

const cellsOf = (fields: CsvFields | undefined, values: Values | undefined): ReadonlyArray<string> =>
  Object.entries(fields?.types ?? {}).map(([name, type]) => values === undefined ? "" : writeCell(type, values[name]))

const isValues = (value: unknown): value is Values => typeof value === "object" && value !== null

const listOf = (record: Values, field = ""): ReadonlyArray<Values> => {
  const list = record[field]
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
