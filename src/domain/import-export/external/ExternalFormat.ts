import { Record, Schema } from "effect"
import type { Row } from "../CsvTable.ts"

const Values = Schema.Record(Schema.String, Schema.Unknown)
export type Values = typeof Values.Type

/** A line that is sold: a product, or a variant of one. */
const SoldLine = Schema.Struct({
  isVariant: Schema.Boolean,
  variant: Values,
  options: Schema.Record(Schema.String, Schema.String),
  metadata: Values,
  prices: Schema.Array(Values),
  stock: Values
})
export type SoldLine = typeof SoldLine.Type

/** A product as its rows say it. */
export const DraftProduct = Schema.Struct({
  product: Values,
  /** Names from the root to the category. */
  categories: Schema.Array(Schema.Array(Schema.String)),
  brands: Schema.Array(Schema.String),
  sold: Schema.Array(SoldLine),
  /** What the file says and the store does not take over, as sentences. */
  warnings: Schema.Array(Schema.String)
})
export type DraftProduct = typeof DraftProduct.Type

/** A row and its product. */
export interface RowPart {
  readonly key: string
  readonly row: Row
}

/** The product of a row; absent: that of the row before it. `row` replaces the row, `parts` come in its place. */
export type RowKey =
  | { readonly key: string | undefined; readonly row?: Row }
  | { readonly parts: ReadonlyArray<RowPart> }
  | { readonly problem: string }

/** Takes the rows of a file one by one; `rest`: those that still wait at its end. */
export interface Rows {
  readonly take: (row: Row) => RowKey
  readonly rest?: () => ReadonlyArray<RowPart>
}

/** How the product files of another shop are read. */
export interface ExternalFormat {
  readonly shop: string
  readonly required: readonly [string, string]
  /** Names that columns have in other versions of the file, in lower case. */
  readonly aliases?: Readonly<Record<string, string>>
  /** Columns whose empty cells say something. */
  readonly telling?: ReadonlyArray<string>
  readonly keys: () => Rows
  readonly read: (rows: ReadonlyArray<Row>, key: string) => DraftProduct | { readonly problem: string }
}

export const present = Record.filter((value: unknown) =>
  value !== undefined && !(Array.isArray(value) && value.length === 0)
)

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'", nbsp: " " }

const decoded = (whole: string, name: string): string => {
  if (!name.startsWith("#")) return entities[name.toLowerCase()] ?? whole
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
}

/** Text without the entities of HTML. */
export const plain = (text: string): string => text.replace(/&(#?\w{1,10});/g, decoded)

const plainText = (html: string): string =>
  plain(
    html
      .replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, "")
      .replace(/<(br|\/p|\/div|\/li|\/h[1-6]|\/tr)\b[^>]*>/gi, "\n")
      .replace(/<[^>]*>/g, "")
  )
    .replace(/[ \t]+/g, " ")
    .replace(/ ?\n[ \n]*/g, "\n")
    .trim()

export const describe = (html: string | undefined): object => {
  if (html === undefined) return {}
  return /<\w|&\w+;/.test(html)
    ? { description: plainText(html), richDescription: { format: "html", html } }
    : { description: html }
}

/** Parts between separators; a separator behind a backslash belongs to its part. */
export const parts = (text: string | undefined, separator = ","): ReadonlyArray<string> =>
  (text ?? "").split(new RegExp(`(?<!\\\\)[${separator}]`))
    .map((part) => part.replaceAll(`\\${separator}`, separator).trim())
    .filter((part) => part !== "")

/** The names of a path in which `sign` stands between them. */
export const pathOf = (path: string | undefined, sign = ">"): ReadonlyArray<string> =>
  (path ?? "").split(sign).map((name) => plain(name).trim()).filter((name) => name !== "")

/** Oversold stock counts as zero; what is no number stays, to be refused. */
export const units = (text: string): number | string =>
  /^-?\d+([.,]0+)?$/.test(text) ? Math.max(0, Math.trunc(Number(text.replace(",", ".")))) : text

export const grams = (weight: number): number | undefined => weight > 0 ? Math.round(weight) : undefined

/** What a cell means that is true or false in one of the usual ways. */
export const isTrue = (cell: string | undefined): boolean =>
  /^(true|yes|y|1|continue|notify)$/i.test(cell?.trim() ?? "")

/** A price before it was reduced; one that is not above the price says nothing. */
export const reducedFrom = (before: string | undefined, amount: string | undefined): string | undefined =>
  before !== undefined && numberOf(before) > numberOf(amount) ? before : undefined

const numberOf = (text: string | undefined): number => Number((text ?? "").replace(",", "."))

/** The names of options with all values that lines have of them, in the order in which they come. */
export const optionsOf = (sold: ReadonlyArray<SoldLine>): ReadonlyArray<Values> => {
  const names = [...new Set(sold.flatMap(({ options }) => Object.keys(options)))]
  return names.map((name) => ({ name, values: [...new Set(sold.flatMap(({ options }) => options[name] ?? []))] }))
}
