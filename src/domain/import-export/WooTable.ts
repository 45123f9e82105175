import { type CsvLine, namedRow, type Row, type TableFormat, type TableReader, tooWide, wrongRow } from "./CsvTable.ts"
import { commaList, descriptionOf, present, slugOf } from "./ExternalText.ts"
import type { FileRow } from "./Import.ts"

const maxAttributes = 50

/** The attribute names of a line with their values. */
const attributesOf = (row: Row): ReadonlyArray<readonly [name: string, values: ReadonlyArray<string>]> =>
  Array.from({ length: maxAttributes }, (_, index) => index + 1).flatMap((place) => {
    const name = row.get(`Attribute ${place} name`)
    return name === undefined ? [] : [[name, commaList(row.get(`Attribute ${place} value(s)`))] as const]
  })

/** The types of a line: `simple, virtual`. */
const typesOf = (row: Row): ReadonlyArray<string> => commaList(row.get("Type")?.toLowerCase())

const column = (row: Row, start: string): string | undefined => [...row].find(([name]) => name.startsWith(start))?.[1]

const weightOf = (row: Row): number | undefined => {
  const [name, text] = [...row].find(([header]) => header.startsWith("Weight (")) ?? []
  const factor = { kg: 1000, g: 1, lbs: 453.592_37, oz: 28.349_523_125 }[name?.slice(8, -1) ?? ""]
  const weight = Number(text) * (factor ?? Number.NaN)
  return weight > 0 ? Math.round(weight) : undefined
}

const optionsOf = (row: Row): Record<string, string> =>
  Object.fromEntries(
    attributesOf(row).flatMap(([name, [value]]) => value === undefined ? [] : [[name, value] as const])
  )

/** Prices of a line: what it costs, and what it costs while it is on sale. */
const pricesOf = (row: Row, named: object) => {
  const [regular, sale] = [row.get("Regular price"), row.get("Sale price")]
  const [from, until] = [row.get("Date sale price starts"), row.get("Date sale price ends")]
  if (regular === undefined) return []
  if (sale === undefined) return [{ ...named, amount: regular }]
  const reduced = { ...named, amount: sale, compareAtAmount: regular }
  if (from === undefined && until === undefined) return [reduced]
  const moment = (text: string | undefined) => text?.trim().replace(" ", "T")
  return [{ ...named, amount: regular }, {
    ...reduced,
    ...present({ validFrom: moment(from), validUntil: moment(until) })
  }]
}

const stockOf = (row: Row, named: object) => {
  const units = row.get("Stock")
  if (units === undefined) return []
  return [{ ...named, onHand: /^-?\d+(\.0+)?$/.test(units) ? Math.max(0, Math.trunc(Number(units))) : units }]
}

const categoriesOf = (row: Row): ReadonlyArray<string> =>
  commaList(row.get("Categories")).map((path) => slugOf(path.split(">").at(-1) ?? "")).filter((slug) => slug !== "")

const taxClassOf = (row: Row) => {
  const taxClass = row.get("Tax class")
  return taxClass === undefined || taxClass === "parent" ? {} : { taxClass }
}

const variantOf = (row: Row) => ({
  ...present({ sku: row.get("SKU"), barcode: column(row, "GTIN") }),
  ...taxClassOf(row),
  options: typesOf(row).includes("variation") ? optionsOf(row) : {},
  metadata: present({ weightGrams: weightOf(row), image: commaList(row.get("Images"))[0] })
})

const productOf = (row: Row, slug: string, isVariable: boolean) => ({
  slug,
  type: typesOf(row).some((type) => type === "downloadable" || type === "virtual") ? "digitalDownload" : "product",
  status: row.get("Published") === "1" ? "active" : "draft",
  isVisible: row.get("Published") === "1" && row.get("Visibility in catalog") !== "hidden",
  ...taxClassOf(row),
  metadata: present({
    wooId: row.get("ID"),
    shortDescription: row.get("Short description"),
    tags: commaList(row.get("Tags")),
    images: commaList(row.get("Images")).map((src) => ({ src })),
    weightGrams: weightOf(row)
  }),
  attributes: [{ title: row.get("Name"), ...descriptionOf(row.get("Description") ?? row.get("Short description")) }],
  categories: [...new Set(categoriesOf(row))],
  brands: commaList(row.get("Brands")).map(slugOf).filter((brand) => brand !== ""),
  ...(isVariable ? { options: attributesOf(row).map(([name, values]) => ({ name, values })) } : {})
})

interface Group {
  readonly line: number
  readonly slug: string
  readonly parent: Row | undefined
  readonly variants: Array<Row>
}

const recordOf = ({ parent, slug, variants }: Group) => {
  const isVariable = parent !== undefined && typesOf(parent).includes("variable")
  // A simple product with a SKU becomes its only variant, so that the SKU can be found.
  const own = parent !== undefined && !isVariable && parent.has("SKU") ? [parent] : []
  const sold = [...own, ...variants]
  const nameOf = (row: Row) => row.has("SKU") ? { sku: row.get("SKU") } : { options: optionsOf(row) }
  const plain = parent !== undefined && !isVariable && own.length === 0 ? [parent] : []
  return {
    product: {
      ...(parent === undefined ? { slug } : productOf(parent, slug, isVariable)),
      ...(sold.length === 0 ? {} : { variants: sold.map(variantOf) })
    },
    prices: [...plain.flatMap((row) => pricesOf(row, {})), ...sold.flatMap((row) => pricesOf(row, nameOf(row)))],
    stock: [...plain.flatMap((row) => stockOf(row, {})), ...sold.flatMap((row) => stockOf(row, nameOf(row)))]
  }
}

/** Reads WooCommerce's lines: variations name their product, which precedes them. */
class WooReader implements TableReader {
  readonly #header: ReadonlyArray<string>
  /** Slugs of the products with variations, by the ways a variation may name them. */
  readonly #parents = new Map<string, string>()
  readonly #taken = new Set<string>()
  #group: Group | undefined

  constructor(header: ReadonlyArray<string>) {
    this.#header = header
  }

  add(line: CsvLine): ReadonlyArray<FileRow> {
    if (line.cells.length > this.#header.length) return [...this.end(), tooWide(line, this.#header)]
    const row = namedRow(this.#header, line)
    return typesOf(row).includes("variation") ? this.#variation(row, line.line) : this.#product(row, line.line)
  }

  end(): ReadonlyArray<FileRow> {
    const done = this.#group
    this.#group = undefined
    return done === undefined ? [] : [{ line: done.line, record: recordOf(done), problem: null }]
  }

  #product(row: Row, line: number): ReadonlyArray<FileRow> {
    const done = this.end()
    const slug = this.#slugOf(row)
    if (slug === "") return [...done, wrongRow(line, "The product has no name.")]
    for (const name of [`id:${row.get("ID")}`, row.get("SKU") ?? ""]) this.#parents.set(name, slug)
    this.#group = { line, slug, parent: row, variants: [] }
    return done
  }

  #variation(row: Row, line: number): ReadonlyArray<FileRow> {
    const slug = this.#parents.get(row.get("Parent") ?? "none")
    if (slug === undefined) {
      return [...this.end(), wrongRow(line, `There is no product "${row.get("Parent") ?? ""}" before it.`)]
    }
    if (this.#group?.slug === slug) {
      this.#group.variants.push(row)
      return []
    }
    const done = this.end()
    this.#group = { line, slug, parent: undefined, variants: [row] }
    return done
  }

  /** The given slug, else one from the name, with the product's ID appended if it is taken in this file. */
  #slugOf(row: Row): string {
    const wanted = row.get("Slug") ?? slugOf(row.get("Name") ?? "")
    const slug = this.#taken.has(wanted) ? `${wanted}-${row.get("ID") ?? this.#taken.size}` : wanted
    this.#taken.add(wanted)
    return slug
  }
}

/** The CSV file of WooCommerce's product export. Unknown columns are ignored. */
export const wooTable: TableFormat = {
  open: (header) =>
    header.includes("Type") && header.includes("Name")
      ? new WooReader(header)
      : { problem: "This is not a product export of WooCommerce: it has no columns \"Type\" and \"Name\"." }
}
