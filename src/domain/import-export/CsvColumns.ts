import { Result, SchemaAST } from "effect"
import { BrandRecord, CategoryRecord } from "../catalog/import-export/GroupImport.ts"
import { ProductRecord, ProductTexts, VariantRecord } from "../catalog/import-export/ProductRecord.ts"
import { CustomerRecord } from "../customers/CustomerImport.ts"
import { StockRecord } from "../inventory/StockImport.ts"
import { LineRecord, OrderRecord } from "../orders/import-export/OrderRecord.ts"
import { PriceRecord } from "../pricing/PriceImport.ts"
import { readJson } from "../text/Storable.ts"
import type { Kind } from "./Import.ts"

/*
 * Spreadsheets run a cell that begins with one of these as a formula. Exports put an apostrophe before such text, which
 * a spreadsheet shows as text; imports remove one. Text that already has apostrophes before such a character gets one
 * more, so that every text round-trips.
 */
const formula = /^'*[=+\-@\t\r\n]/
const guarded = /^'+[=+\-@\t\r\n]/

/** A text as a cell of a CSV file. */
export const guardText = (text: string): string => formula.test(text) ? `'${text}` : text

/** The text of a cell. */
export const unguardText = (cell: string): string => guarded.test(cell) ? cell.slice(1) : cell

/** How the texts of a column are read and written. */
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

/** Text that is not JSON stays as it is: the record's schema reports what it expects. */
const parsed = (text: string): unknown => Result.getOrElse(readJson(text), () => text)

const listOf = (text: string): unknown =>
  text.startsWith("[") ? parsed(text) : text.split("|").map((part) => part.trim()).filter((part) => part !== "")

/**
 * The value of a nonempty cell; a value that does not parse as its type stays text, which the record's schema rejects.
 */
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

/** A value as a cell; absent and null are empty. */
export const writeCell = (type: CellType, value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (type === "list" && Array.isArray(value)) return listText(value)
  if (type === "json") return JSON.stringify(value)
  if (value instanceof Date) return value.toISOString()
  return typeof value === "string" ? guardText(value) : String(value)
}

/** The column of a field. */
export interface CsvField {
  readonly name: string
  readonly column: string
  readonly type: CellType
  /** An empty cell sets the field to null, a list to an empty one; for other fields an empty cell means absent. */
  readonly isCleared: boolean
  /** Every file must have the column. */
  readonly isRequired: boolean
}

/** The columns of a kind of records in CSV, in their order. */
export interface CsvColumns {
  readonly fields: ReadonlyArray<CsvField>
  /** Columns that are accepted and not read: ids in older exports. */
  readonly ignored?: ReadonlyArray<string>
  /** A list of the record with a line for each element; lines with the same key follow each other. */
  readonly lines?: { readonly key: string; readonly field: string; readonly fields: ReadonlyArray<CsvField> }
  /** Translated texts: `en` under the column's name, other locales with a suffix, like `title:de`. */
  readonly texts?: ReadonlyArray<CsvField>
}

type Fields = Readonly<Record<string, { readonly ast: SchemaAST.AST }>>

/** The alternatives of a field in a file. */
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
      isRequired: !SchemaAST.isOptional(ast)
    }
  })

/** The columns of every kind, as its schema describes them. */
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
