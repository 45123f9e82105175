import { SchemaAST } from "effect"
import { BrandRecord, CategoryRecord } from "../catalog/import-export/GroupImport.ts"
import { ProductRecord, ProductTexts, VariantRecord } from "../catalog/import-export/ProductRecord.ts"
import { CustomerRecord } from "../customers/CustomerImport.ts"
import { StockRecord } from "../inventory/StockRecord.ts"
import { LineRecord, OrderRecord } from "../orders/import-export/OrderRecord.ts"
import { PriceRecord } from "../pricing/PriceRecord.ts"
import type { CellType } from "./CsvCell.ts"
import type { Kind } from "./Kind.ts"

/** The columns of a record's fields, in their order. */
export interface CsvFields {
  readonly types: Readonly<Record<string, CellType>>
  /**
   * Fields that an empty cell sets to null, or to an empty list for lists; for other fields an empty cell means absent.
   */
  readonly cleared: ReadonlyArray<string>
  /** Columns every file must have. */
  readonly required: ReadonlyArray<string>
}

/** The columns of a kind of records in CSV. */
export interface CsvColumns extends CsvFields {
  /** Columns that are accepted and not read: ids in older exports. */
  readonly ignored: ReadonlyArray<string>
  /** A list of the record with a line for each element; lines with the same key follow each other. */
  readonly lines?: CsvFields & { readonly key: string; readonly field: string; readonly prefix: string }
  /** Translated texts: `en` under the column's name, other locales with a suffix, like `title:de`. */
  readonly texts?: CsvFields
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

const fieldsOf = (schema: { readonly fields: Fields }, without: ReadonlyArray<string> = []): CsvFields => {
  const all = Object.entries(schema.fields).filter(([name]) => !without.includes(name)).map(([name, { ast }]) => {
    const leaves = leavesOf(SchemaAST.toEncoded(ast))
    const type = typeOf(leaves.filter(({ _tag }) => _tag !== "Undefined" && _tag !== "Null"))
    const isCleared = type === "list" || (type !== "json" && leaves.some(({ _tag }) => _tag === "Null"))
    return { name, type, isCleared, isRequired: !SchemaAST.isOptional(ast) }
  })
  return {
    types: Object.fromEntries(all.map(({ name, type }) => [name, type])),
    cleared: all.flatMap(({ isCleared, name }) => isCleared ? [name] : []),
    required: all.flatMap(({ isRequired, name }) => isRequired ? [name] : [])
  }
}

const flat = (schema: { readonly fields: Fields }): CsvColumns => ({ ...fieldsOf(schema), ignored: [] })

/** The columns of every kind, as its schema describes them. */
export const csvColumns: { readonly [K in Kind]: CsvColumns } = {
  catalog: {
    ...fieldsOf(ProductRecord, ["attributes", "variants"]),
    ignored: [],
    texts: fieldsOf(ProductTexts, ["locale"]),
    lines: { key: "slug", field: "variants", prefix: "variant.", ...fieldsOf(VariantRecord) }
  },
  categories: flat(CategoryRecord),
  brands: flat(BrandRecord),
  prices: flat(PriceRecord),
  stock: flat(StockRecord),
  customers: flat(CustomerRecord),
  orders: {
    ...fieldsOf(OrderRecord, ["id", "customerId", "lineItems"]),
    ignored: ["id", "customerId", "line.entityId", "line.variantId"],
    lines: {
      key: "orderNumber",
      field: "lineItems",
      prefix: "line.",
      ...fieldsOf(LineRecord, ["entityId", "variantId"])
    }
  }
}
