import { Result, SchemaAST } from "effect"
import { readJson } from "../platform/text/Storable.ts"
import { BrandRecord, CategoryRecord } from "./catalog/GroupImport.ts"
import { ProductRecord, ProductTexts, VariantRecord } from "./catalog/ProductRecord.ts"
import { CustomerRecord } from "./CustomerImport.ts"
import type { Kind } from "./Import.ts"
import { LineRecord, OrderRecord } from "./orders/OrderRecord.ts"
import { PriceRecord } from "./PriceImport.ts"
import { StockRecord } from "./StockImport.ts"

/*
 * Spreadsheets run a cell that begins with one of these as a formula. Exports put an apostrophe before such text,
 * imports remove one. Text that already has apostrophes there gets one more: every text round-trips.
 */
const formula = /^'*[=+\-@\t\r\n]/
const guarded = /^'+[=+\-@\t\r\n]/

export const guardText = (text: string): string => formula.test(text) ? `'${text}` : text

export const unguardText = (cell: string): string => guarded.test(cell) ? cell.slice(1) : cell

export type CellType = "text" | "number" | "boolean" | "json" | "list"

const truths: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["yes", true],
  ["false", false],
  ["0", false],
  ["no", false]
])

const integer = /^-?\d{1,16}$/

const parsed = (text: string): unknown => Result.getOrElse(readJson(text), () => text)

const listOf = (text: string): unknown =>
  text.startsWith("[") ? parsed(text) : text.split("|").map((part) => part.trim()).filter((part) => part !== "")

/** A value that does not parse as its type stays text, which the record's schema rejects. */
export const readCell = (type: CellType, cell: string): unknown => {
  const text = unguardText(cell)
  switch (type) {
    case "text":
      return text
    case "number":
      return integer.test(text.trim()) ? Number(text) : text
    case "boolean":
      return truths.get(text.trim().toLowerCase()) ?? text
    case "json":
      return parsed(text)
    case "list":
      return listOf(text)
  }
}

const isPlain = (part: unknown): boolean =>
  typeof part === "string" && part !== "" && part.trim() === part && !part.includes("|") && !part.startsWith("[")

const listText = (list: ReadonlyArray<unknown>): string =>
  list.every(isPlain) ? guardText(list.join("|")) : JSON.stringify(list)

export const writeCell = (type: CellType, value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (type === "list" && Array.isArray(value)) return listText(value)
  if (type === "json") return JSON.stringify(value)
  if (value instanceof Date) return value.toISOString()
  return typeof value === "string" ? guardText(value) : String(value)
}

export interface CsvField {
  readonly name: string
  readonly column: string
  readonly type: CellType
  /** An empty cell sets the field to null or an empty list; else it means absent. */
  readonly isCleared: boolean
  readonly isRequired: boolean
}

export interface CsvColumns {
  readonly fields: ReadonlyArray<CsvField>
  /** Columns that are accepted and not read: ids in older exports. */
  readonly ignored?: ReadonlyArray<string>
  /** A list of the record with a line for each element; lines with the same key follow each other. */
  readonly lines?: { readonly key: string; readonly field: string; readonly fields: ReadonlyArray<CsvField> }
  /** `en` under the column's name, other locales with a suffix, like `title:de`. */
  readonly texts?: ReadonlyArray<CsvField>
}

type Fields = Readonly<Record<string, { readonly ast: SchemaAST.AST }>>

const leavesOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  ast._tag === "Union" ? ast.types.flatMap(leavesOf) : [ast]

const isText = ({ _tag }: SchemaAST.AST): boolean => _tag === "String" || _tag === "Literal"

const typeOf = (leaves: ReadonlyArray<SchemaAST.AST>): CellType => {
  if (leaves.every(isText)) return "text"
  const [only] = leaves
  if (only?._tag === "Number") return "number"
  if (only?._tag === "Boolean") return "boolean"
  return only?._tag === "Arrays" && only.rest.every(isText) ? "list" : "json"
}

const fieldsOf = (schema: { readonly fields: Fields }, without: ReadonlyArray<string> = [], prefix = "") =>
  Object.entries(schema.fields).filter(([name]) => !without.includes(name)).map(([name, { ast }]): CsvField => {
    const leaves = leavesOf(SchemaAST.toEncoded(ast))
    const type = typeOf(leaves.filter(({ _tag }) => _tag !== "Undefined" && _tag !== "Null"))
    return {
      name,
      column: `${prefix}${name}`,
      type,
      isCleared: type === "list" || (type !== "json" && leaves.some(({ _tag }) => _tag === "Null")),
      isRequired: !SchemaAST.isOptional(SchemaAST.toEncoded(ast))
    }
  })

export const csvColumns: { readonly [K in Kind]: CsvColumns } = {
  catalog: {
    fields: fieldsOf(ProductRecord, ["attributes", "variants"]),
    texts: fieldsOf(ProductTexts, ["locale"]),
    lines: { key: "slug", field: "variants", fields: fieldsOf(VariantRecord, [], "variant.") }
  },
  categories: { fields: fieldsOf(CategoryRecord) },
  brands: { fields: fieldsOf(BrandRecord) },
  prices: { fields: fieldsOf(PriceRecord) },
  stock: { fields: fieldsOf(StockRecord) },
  customers: { fields: fieldsOf(CustomerRecord) },
  orders: {
    fields: fieldsOf(OrderRecord, ["id", "customerId", "lineItems"]),
    ignored: ["id", "customerId", "line.entityId", "line.variantId"],
    lines: { key: "orderNumber", field: "lineItems", fields: fieldsOf(LineRecord, ["entityId", "variantId"], "line.") }
  }
}

export type Row = ReadonlyMap<string, string>

/** Lines of a record. */
export const maxLines = 2500

export interface TableReader {
  readonly keyOf: (row: Row, line: number) => string | undefined | { readonly problem: string }
  readonly recordOf: (rows: ReadonlyArray<Row>, key: string) => unknown
}

interface RowOfRecord {
  readonly key: string
  readonly row: Row
}

/** Rows with one key are one record, wherever they stand. */
export interface GatheringReader {
  /** Rows that are ready once this one is read: itself, or others that waited for it. */
  readonly take: (row: Row) => ReadonlyArray<RowOfRecord> | { readonly problem: string }
  /** Rows that still wait at the end of the file. */
  readonly rest: () => ReadonlyArray<RowOfRecord>
  readonly recordOf: (rows: ReadonlyArray<Row>, key: string) => unknown
}

export type OpenTable = (
  header: ReadonlyArray<string>
) => TableReader | GatheringReader | { readonly problem: string }

/** Why the columns of a file are refused. */
export const headerProblem = (
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

const namesOf = (fields: ReadonlyArray<CsvField> = []) => fields.map(({ column }) => column)

const textsIn = (locale: string, texts: ReadonlyArray<CsvField> = []) =>
  locale === "en" ? texts : texts.map((field) => ({ ...field, column: `${field.column}:${locale}` }))

const localeColumn = /^(\w+):(.{1,64})$/

const valuesOf = (row: Row, fields: ReadonlyArray<CsvField>) =>
  fields.some(({ column }) => row.has(column))
    ? Object.fromEntries(
      fields.flatMap(({ column, isCleared, name, type }): ReadonlyArray<readonly [string, unknown]> => {
        const cell = row.get(column)
        if (cell !== undefined) return [[name, readCell(type, cell)]]
        return isCleared ? [[name, type === "list" ? [] : null]] : []
      })
    )
    : undefined

const recordOf = ({ fields, lines, texts }: CsvColumns, header: ReadonlyArray<string>) => {
  const present = (some: ReadonlyArray<CsvField> = []) => some.filter(({ column }) => header.includes(column))
  const [own, ofLine] = [present(fields), present(lines?.fields)]
  const locales = new Set(["en", ...header.flatMap((name) => localeColumn.exec(name)?.[2] ?? [])])
  const ofLocale = [...locales].map((locale) => [locale, present(textsIn(locale, texts))] as const)
  return (rows: ReadonlyArray<Row>) => {
    const first = rows[0] ?? new Map<string, string>()
    const attributes = ofLocale.flatMap(([locale, fields]) => {
      const values = valuesOf(first, fields)
      return values === undefined ? [] : [{ locale, ...values }]
    })
    const elements = rows.flatMap((row) => valuesOf(row, ofLine) ?? [])
    const isLeftOut = lines === undefined || (elements.length === 0 && !lines.fields.some((field) => field.isRequired))
    return {
      ...valuesOf(first, own),
      ...(attributes.length === 0 ? {} : { attributes }),
      ...(isLeftOut ? {} : { [lines.field]: elements })
    }
  }
}

export const csvHeader = ({ fields, lines, texts }: CsvColumns, locales: ReadonlyArray<string>) => [
  ...namesOf(fields),
  ...locales.flatMap((locale) => namesOf(textsIn(locale, texts))),
  ...namesOf(lines?.fields)
]

/** Reads files with these columns. A line without a key continues the record before it. */
export const csvTable = (columns: CsvColumns): OpenTable => {
  const { fields, ignored = [], lines, texts } = columns
  const names = new Set([...csvHeader(columns, ["en"]), ...ignored])
  const isKnown = (name: string) =>
    names.has(name) || namesOf(texts).some((column) => column === localeColumn.exec(name)?.[1])
  const required = namesOf([...fields, ...lines?.fields ?? []].filter(({ isRequired }) => isRequired))
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

const elementsOf = (list: unknown): ReadonlyArray<Values> => Array.isArray(list) ? list.filter(isValues) : []

/** Lines after the first repeat the key and no other column. */
export const csvLines = (
  { fields, lines, texts }: CsvColumns,
  record: Values,
  locales: ReadonlyArray<string>
): ReadonlyArray<ReadonlyArray<string>> => {
  const attributes = elementsOf(record["attributes"])
  const [first, ...rest] = elementsOf(record[lines?.field ?? ""])
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
