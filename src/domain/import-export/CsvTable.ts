import { type CsvColumns, type CsvField, readCell, writeCell } from "./CsvColumns.ts"

/** The cells of a line by the names of their columns; empty ones are left out. */
export type Row = ReadonlyMap<string, string>

/** How the lines of a table are read; a record can span several of them. */
export interface TableReader {
  /** Where a line belongs: to the record with this key, undefined to the one before it; or its problem. */
  readonly keyOf: (row: Row, line: number) => string | undefined | { readonly problem: string }
  /** The record of some lines; its schema decides whether it is a valid one. */
  readonly recordOf: (rows: ReadonlyArray<Row>, key: string) => unknown
}

/** A reader for a table of this header, or the problem of the header. */
export type OpenTable = (header: ReadonlyArray<string>) => TableReader | { readonly problem: string }

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

const suffixOf = (locale: string) => locale === "en" ? "" : `:${locale}`

const columnsOf = (fields: ReadonlyArray<CsvField> = [], suffix = "") =>
  fields.map(({ column }) => `${column}${suffix}`)

/** The fields of a row's cells; an empty cell clears its field or omits it. Undefined if all cells are empty. */
const valuesOf = (row: Row, header: ReadonlySet<string>, fields: ReadonlyArray<CsvField>, suffix = "") =>
  columnsOf(fields, suffix).some((column) => row.has(column))
    ? Object.fromEntries(
      fields.flatMap(({ column, isCleared, name, type }): ReadonlyArray<readonly [string, unknown]> => {
        const cell = row.get(`${column}${suffix}`)
        if (cell !== undefined) return [[name, readCell(type, cell)]]
        return header.has(`${column}${suffix}`) && isCleared ? [[name, type === "list" ? [] : null]] : []
      })
    )
    : undefined

const localeColumn = /^(\w+):(.{1,64})$/

const recordOf = ({ fields, lines, texts = [] }: CsvColumns, names: ReadonlyArray<string>) => {
  const header = new Set(names)
  const locales = new Set(["en", ...names.flatMap((name) => localeColumn.exec(name)?.[2] ?? [])])
  return (rows: ReadonlyArray<Row>) => {
    const first = rows[0] ?? new Map<string, string>()
    const attributes = [...locales].flatMap((locale) => {
      const values = valuesOf(first, header, texts, suffixOf(locale))
      return values === undefined ? [] : [{ locale, ...values }]
    })
    const elements = rows.flatMap((row) => valuesOf(row, header, lines?.fields ?? []) ?? [])
    const isLeftOut = lines === undefined || (elements.length === 0 && !lines.fields.some((field) => field.isRequired))
    return {
      ...valuesOf(first, header, fields),
      ...(attributes.length === 0 ? {} : { attributes }),
      ...(isLeftOut ? {} : { [lines.field]: elements })
    }
  }
}

/** The header of files with these columns, with texts in these locales. */
export const csvHeader = ({ fields, lines, texts }: CsvColumns, locales: ReadonlyArray<string>) => [
  ...columnsOf(fields),
  ...locales.flatMap((locale) => columnsOf(texts, suffixOf(locale))),
  ...columnsOf(lines?.fields)
]

/** Reads files with these columns. A line without a key continues the record before it. */
export const csvTable = (columns: CsvColumns): OpenTable => {
  const { fields, ignored = [], lines, texts = [] } = columns
  const names = new Set([...csvHeader(columns, ["en"]), ...ignored])
  const isKnown = (name: string) =>
    names.has(name) || texts.some(({ column }) => column === localeColumn.exec(name)?.[1])
  const required = columnsOf([...fields, ...lines?.fields ?? []].filter(({ isRequired }) => isRequired))
  return (header) => {
    const problem = headerProblem(header, isKnown, required)
    if (problem !== undefined) return { problem }
    return {
      keyOf: (row, line) => lines === undefined ? String(line) : row.get(lines.key),
      recordOf: recordOf(columns, header)
    }
  }
}

type Values = Readonly<Record<string, unknown>>

const cellsOf = (fields: ReadonlyArray<CsvField> = [], values: Values = {}): ReadonlyArray<string> =>
  fields.map(({ name, type }) => writeCell(type, values[name]))

const isValues = (value: unknown): value is Values => typeof value === "object" && value !== null

const listOf = (record: Values, field = ""): ReadonlyArray<Values> => {
  const list = record[field]
  return Array.isArray(list) ? list.filter(isValues) : []
}

/** The lines of a record. Lines after the first repeat its key and none of its other columns. */
export const csvLines = (
  { fields, lines, texts }: CsvColumns,
  record: Values,
  locales: ReadonlyArray<string>
): ReadonlyArray<ReadonlyArray<string>> => {
  const attributes = listOf(record, "attributes")
  const [first, ...rest] = listOf(record, lines?.field)
  const line = (own: Values, textsOf: (locale: string) => Values | undefined, element: Values | undefined) => [
    ...cellsOf(fields, own),
    ...locales.flatMap((locale) => cellsOf(texts, textsOf(locale))),
    ...cellsOf(lines?.fields, element)
  ]
  const key = lines === undefined ? {} : { [lines.key]: record[lines.key] }
  return [
    line(record, (locale) => attributes.find((one) => (one["locale"] ?? "en") === locale), first),
    ...rest.map((element) => line(key, () => undefined, element))
  ]
}
