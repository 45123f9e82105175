import { Result, Schema } from "effect"
import { slugOf } from "../../platform/text/SlugText.ts"
import type { NamedGroups } from "../catalog/ProductRecord.ts"
import { maxLines, type OpenTable, type Row } from "../CsvTable.ts"
import type { ExternalShop } from "../Import.ts"
import { type DraftProduct, type ExternalFormat, present, type SoldLine, type Values } from "./ExternalFormat.ts"
import { magento } from "./Magento.ts"
import { shopify } from "./Shopify.ts"
import { square } from "./Square.ts"
import { woocommerce } from "./WooCommerce.ts"

const formats: { readonly [Shop in ExternalShop]: ExternalFormat } = { magento, shopify, square, woocommerce }

/** A product as it was staged: all rows about it, as they stand in the file. */
const Staged = Schema.Struct({
  key: Schema.String,
  rows: Schema.Array(Schema.Record(Schema.String, Schema.String))
})

const isStaged = Schema.is(Staged)

/** A product of another shop from rows with the columns of that shop's file; a sentence where they are none. */
export const readExternal = (
  shop: ExternalShop,
  rows: ReadonlyArray<Row>,
  key: string
): DraftProduct | { readonly problem: string } => formats[shop].read(rows, key)

/** Prices and stock name a variant by its options, which no other one has; one without any by its SKU. */
export const nameOf = ({ options, variant }: SoldLine): Values => {
  if (Object.keys(options).length > 0) return { options }
  return variant["sku"] === undefined ? {} : { sku: variant["sku"] }
}

const has = (field: string) => (values: Values): boolean => (values[field] ?? "") !== ""

const separator = "--"

const namedGroups = ({ brands, categories }: DraftProduct) => {
  const named: { readonly [Name in keyof NamedGroups]: Map<string, { name: string; parent: string | null }> } = {
    categories: new Map(),
    brands: new Map()
  }
  const slugs = categories.flatMap((names) => {
    let parent: string | null = null
    for (const name of names) {
      const slug: string = parent === null ? slugOf(name) : `${parent}${separator}${slugOf(name)}`
      named.categories.set(slug, { name, parent })
      parent = slug
    }
    return parent ?? []
  })
  for (const name of brands.filter((one) => one.trim() !== "")) named.brands.set(slugOf(name), { name, parent: null })
  return { named, links: { categories: [...new Set(slugs)], brands: [...named.brands.keys()] } }
}

/** Slugs of the categories that a product of another shop gets. */
export const categorySlugs = (draft: DraftProduct): ReadonlyArray<string> => namedGroups(draft).links.categories

/** A product that is sold as it is has the policy of its only line. */
const policyOf = ([line, ...others]: ReadonlyArray<SoldLine>): Values =>
  line === undefined || others.length > 0 || Object.keys(line.options).length > 0 ? {} : present({
    manageInventory: line.variant["manageInventory"],
    allowBackorder: line.variant["allowBackorder"]
  })

/** A product with its prices, stock and groups, as the import takes it. */
export const recordOf = (draft: DraftProduct, key: string): ExternalRecord => {
  const { sold, warnings } = draft
  const { links, named } = namedGroups(draft)
  return {
    record: {
      product: {
        slug: key,
        ...draft.product,
        ...policyOf(sold),
        ...links,
        variants: sold.filter(({ isVariant }) => isVariant).map(({ metadata, options, variant }) => ({
          ...present(variant),
          options,
          metadata: present(metadata)
        }))
      },
      prices: sold.flatMap((line) => line.prices.map((price) => present({ ...nameOf(line), ...price })))
        .filter(has("amount")),
      stock: sold.map((line) => present({ ...nameOf(line), ...line.stock })).filter(has("onHand"))
    },
    named,
    warnings
  }
}

export interface ExternalRecord {
  readonly record: unknown
  readonly named: NamedGroups
  readonly warnings: ReadonlyArray<string>
}

const none: NamedGroups = { categories: new Map(), brands: new Map() }

/** The record of a staged product; one that an earlier version staged is a record already. */
export const externalRecord = (shop: ExternalShop, staged: unknown): Result.Result<ExternalRecord, string> => {
  if (!isStaged(staged)) return Result.succeed({ record: staged, named: none, warnings: [] })
  const { key, rows } = staged
  if (rows.length > maxLines) return Result.fail(`The product has more than ${maxLines} lines.`)
  const draft = formats[shop].read(rows.map((row): Row => new Map(Object.entries(row))), key)
  return "problem" in draft ? Result.fail(draft.problem) : Result.succeed(recordOf(draft, key))
}

const opened = ({ aliases = {}, keys, required, shop, telling = [] }: ExternalFormat): OpenTable => (header) => {
  const names = header.map((name) => aliases[name.toLowerCase()] ?? name)
  const missing = required.filter((name) => !names.includes(name))
  if (missing.length > 0) {
    const columns = required.join("\" and \"")
    return { problem: `This is not a product export of ${shop}: it has no columns "${columns}".` }
  }
  const [known, rows] = [new Map(header.map((name, index) => [name, names[index] ?? name])), keys()]
  const empty = telling.filter((name) => names.includes(name)).map((name) => [name, ""] as const)
  const renamed = (row: Row): Row =>
    new Map([...empty, ...[...row].toReversed().map(([name, cell]) => [known.get(name) ?? name, cell] as const)])
  let last: string | undefined
  return {
    take: (sent) => {
      const row = renamed(sent)
      const found = rows.take(row)
      if ("problem" in found) return found
      if ("parts" in found) return found.parts
      const key = found.key ?? last
      if (key === undefined) return { problem: `The row names no product: "${required[0]}" is empty.` }
      last = key
      return [{ key, row: found.row ?? row }]
    },
    rest: rows.rest ?? (() => []),
    recordOf: (parts, key) => ({ key, rows: parts.map((row) => Object.fromEntries(row)) })
  }
}

/** Tables of products of other shops, whose rows about one product may stand anywhere. */
export const externalTable = (shop: ExternalShop): OpenTable => opened(formats[shop])
