import { type CellType, readCell, writeCell } from "./Cells.ts"
import type { FiledProduct } from "./FiledProduct.ts"
import { groupingReader, headerProblem, type Row, type TableFormat } from "./FileTable.ts"

type Columns = Readonly<Record<string, CellType>>

/** Columns of the entity itself: on its first line. */
const own = {
  slug: "text",
  type: "text",
  status: "text",
  isVisible: "boolean",
  taxClass: "text",
  metadata: "json",
  customFields: "json",
  categories: "list",
  brands: "list",
  options: "json",
  media: "json"
} satisfies Columns

/** Columns of its words: of `en` under these names, of another locale with `:` and its name behind them. */
const words = {
  title: "text",
  subtitle: "text",
  description: "text",
  richDescription: "json",
  seoTitle: "text",
  seoDescription: "text"
} satisfies Columns

/** Columns of its variants, one a line. */
const variant = {
  sku: "text",
  barcode: "text",
  taxClass: "text",
  status: "text",
  metadata: "json",
  options: "json"
} satisfies Columns

const cellTypes: ReadonlyMap<string, CellType> = new Map([
  ...Object.entries<CellType>(own),
  ...Object.entries<CellType>(words),
  ...Object.entries<CellType>(variant).map(([name, type]) => [`variant.${name}`, type] as const)
])

/** A column may name its locale. */
const wordColumn = /^(title|subtitle|description|richDescription|seoTitle|seoDescription):(.{1,64})$/

const isColumn = (name: string): boolean => cellTypes.has(name) || wordColumn.test(name)

/** Columns whose empty cell means that there is none, where the table has the column at all. */
const clearable = new Set(["taxClass", "barcode", "sku", "subtitle", "description", "seoTitle", "seoDescription"])
const emptied = new Set(["categories", "brands"])

/** The values of a row's columns; an empty cell clears what can be cleared, and keeps the rest. */
const valuesOf = (row: Row, header: ReadonlyArray<string>, names: Iterable<string>, prefix = "", suffix = "") => {
  const values: Record<string, unknown> = {}
  for (const name of names) {
    const column = `${prefix}${name}${suffix}`
    const cell = row.get(column)
    if (cell !== undefined) values[name] = readCell(cellTypes.get(`${prefix}${name}`) ?? "text", cell)
    else if (header.includes(column) && clearable.has(name)) values[name] = null
    else if (header.includes(column) && emptied.has(name)) values[name] = []
  }
  return values
}

const localesOf = (header: ReadonlyArray<string>): ReadonlyArray<readonly [locale: string, suffix: string]> => {
  const named = new Set(header.flatMap((name) => wordColumn.exec(name)?.[2] ?? []))
  return [["en", ""], ...[...named].map((locale) => [locale, `:${locale}`] as const)]
}

const isGiven = (row: Row, names: ReadonlyArray<string>): boolean => names.some((name) => row.has(name))

/** The record that the lines of an entity describe; whether it is a right one, its schema says. */
const recordOf = (header: ReadonlyArray<string>) => {
  const locales = localesOf(header)
  const wordNames = Object.keys(words)
  const variantColumns = Object.keys(variant).map((name) => `variant.${name}`)
  return (rows: ReadonlyArray<Row>) => {
    const first = rows[0] ?? new Map<string, string>()
    const attributes = locales.flatMap(([locale, suffix]) =>
      isGiven(first, wordNames.map((name) => name + suffix))
        ? [{ locale, ...valuesOf(first, header, wordNames, "", suffix) }]
        : []
    )
    const variants = rows.filter((row) => isGiven(row, variantColumns))
      .map((row) => valuesOf(row, header, Object.keys(variant), "variant."))
    return {
      ...valuesOf(first, header, Object.keys(own)),
      ...(attributes.length === 0 ? {} : { attributes }),
      ...(variants.length === 0 ? {} : { variants })
    }
  }
}

/** Tables of the catalog: a line for each variant of an entity, one for an entity without any. */
export const catalogTable: TableFormat = {
  open: (header) => {
    const problem = headerProblem(header, isColumn, ["slug"])
    return problem === undefined ? groupingReader(header, "slug", recordOf(header)) : { problem }
  }
}

/** The header of a table of a catalog in these locales. */
export const catalogHeader = (locales: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...Object.keys(own),
  ...locales.flatMap((locale) => Object.keys(words).map((name) => locale === "en" ? name : `${name}:${locale}`)),
  ...Object.keys(variant).map((name) => `variant.${name}`)
]

const cellsOf = (columns: Columns, values: Readonly<Record<string, unknown>> | undefined): ReadonlyArray<string> =>
  Object.entries(columns).map(([name, type]) => values === undefined ? "" : writeCell(type, values[name]))

const blank = (columns: Columns): ReadonlyArray<string> => Object.keys(columns).map(() => "")

/** The lines of an entity. Lines behind the first one say of which entity they are, and nothing else of it. */
export const catalogLines = (
  record: FiledProduct,
  locales: ReadonlyArray<string>
): ReadonlyArray<ReadonlyArray<string>> => {
  const attributes = new Map((record.attributes ?? []).map((one) => [one.locale ?? "en", one]))
  const first = [
    ...cellsOf(own, record),
    ...locales.flatMap((locale) => cellsOf(words, attributes.get(locale)))
  ]
  const [, ...rest] = [...blank(own), ...locales.flatMap(() => blank(words))]
  const [variantOfFirst, ...others] = record.variants ?? []
  return [
    [...first, ...cellsOf(variant, variantOfFirst)],
    ...others.map((one) => [writeCell("text", record.slug), ...rest, ...cellsOf(variant, one)])
  ]
}
