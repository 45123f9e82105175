import { groupingReader, type Row, type TableFormat } from "./CsvTable.ts"
import { commaList, descriptionOf, present, slugOf } from "./ExternalText.ts"

const places = [1, 2, 3] as const

/** Shopify writes apostrophes before codes that spreadsheets would take for numbers. */
const code = (text: string | undefined): string | undefined => text?.replace(/^'/, "")

/** Option names are on the first line only; a product without options has one called Title. */
const namesOf = (first: Row): ReadonlyArray<string | undefined> => {
  const names = places.map((place) => first.get(`Option${place} Name`))
  const plain = names[0] === "Title" && first.get("Option1 Value") === "Default Title"
  return plain ? [] : names
}

const optionsOf = (row: Row, names: ReadonlyArray<string | undefined>): Record<string, string> =>
  Object.fromEntries(places.flatMap((place, index) => {
    const [name, value] = [names[index], row.get(`Option${place} Value`)]
    return name === undefined || value === undefined ? [] : [[name, value] as const]
  }))

const isVariant = (row: Row): boolean =>
  ["Variant SKU", "Variant Price", "Option1 Value", "Variant Inventory Qty"].some((name) => row.has(name))

const grams = (row: Row): number | undefined => {
  const weight = Number(row.get("Variant Grams"))
  return weight > 0 ? Math.round(weight) : undefined
}

const variantOf = (row: Row, names: ReadonlyArray<string | undefined>) => ({
  ...present({ sku: code(row.get("Variant SKU")), barcode: code(row.get("Variant Barcode")) }),
  options: optionsOf(row, names),
  metadata: present({ weightGrams: grams(row), image: row.get("Variant Image") })
})

/** What names the variant for prices and stock. */
const nameOf = (row: Row, names: ReadonlyArray<string | undefined>) => {
  const sku = code(row.get("Variant SKU"))
  return sku === undefined ? { options: optionsOf(row, names) } : { sku }
}

const pricesOf = (row: Row, names: ReadonlyArray<string | undefined>) => {
  const amount = row.get("Variant Price")
  if (amount === undefined) return []
  return [{ ...nameOf(row, names), amount, ...present({ compareAtAmount: row.get("Variant Compare At Price") }) }]
}

/** Only stock that the other shop tracks; oversold stock counts as zero. */
const stockOf = (row: Row, names: ReadonlyArray<string | undefined>) => {
  const [units, tracker] = [row.get("Variant Inventory Qty"), row.get("Variant Inventory Tracker")]
  if (units === undefined || tracker === undefined) return []
  const onHand = /^-?\d+$/.test(units) ? Math.max(0, Number(units)) : units
  return [{ ...nameOf(row, names), onHand, ...present({ unitCost: row.get("Cost per item") }) }]
}

/** Pictures in the other shop's order; without positions, in the order of the lines. */
const imagesOf = (rows: ReadonlyArray<Row>) =>
  rows.flatMap((row, index) => {
    const [src, place] = [row.get("Image Src"), Number(row.get("Image Position"))]
    return src === undefined
      ? []
      : [{ image: present({ src, alt: row.get("Image Alt Text") }), place: place || index + 1 }]
  }).toSorted((one, other) => one.place - other.place).map(({ image }) => image)

const lastOf = (path: string | undefined): string | undefined => path?.split(">").at(-1)?.trim()

const statuses = new Set(["active", "draft", "archived"])

const productOf = (rows: ReadonlyArray<Row>, first: Row, names: ReadonlyArray<string | undefined>) => {
  const [vendor, kind, branch] = [first.get("Vendor"), first.get("Type"), first.get("Product Category")]
  const isPublished = first.get("Published")?.toLowerCase() !== "false"
  const status = first.get("Status")?.toLowerCase()
  return {
    slug: first.get("Handle"),
    type: "product",
    status: status !== undefined && statuses.has(status) ? status : isPublished ? "active" : "draft",
    isVisible: isPublished,
    metadata: present({
      vendor,
      productType: kind,
      productCategory: branch,
      tags: commaList(first.get("Tags")),
      images: imagesOf(rows)
    }),
    attributes: [{
      title: first.get("Title"),
      ...descriptionOf(first.get("Body (HTML)")),
      ...present({ seoTitle: first.get("SEO Title"), seoDescription: first.get("SEO Description") })
    }],
    categories: [...new Set([kind, lastOf(branch)].map((text) => slugOf(text ?? "")))].filter((slug) => slug !== ""),
    brands: [slugOf(vendor ?? "")].filter((slug) => slug !== ""),
    ...(names.length === 0 ? {} : { options: optionValues(rows, names) }),
    variants: rows.filter(isVariant).map((row) => variantOf(row, names))
  }
}

const optionValues = (rows: ReadonlyArray<Row>, names: ReadonlyArray<string | undefined>) =>
  names.flatMap((name, index) =>
    name === undefined ? [] : [{
      name,
      values: [...new Set(rows.flatMap((row) => row.get(`Option${places[index] ?? 1} Value`) ?? []))]
    }]
  )

/** The product that lines with one handle describe: one for each variant, and one for each further picture. */
const recordOf = (rows: ReadonlyArray<Row>) => {
  const first: Row = rows[0] ?? new Map<string, string>()
  const names = namesOf(first)
  const variants = rows.filter(isVariant)
  return {
    product: productOf(rows, first, names),
    prices: variants.flatMap((row) => pricesOf(row, names)),
    stock: variants.flatMap((row) => stockOf(row, names))
  }
}

/** The CSV file of Shopify's product export. Unknown columns are ignored. */
export const shopifyTable: TableFormat = {
  open: (header) =>
    header.includes("Handle") && header.includes("Title")
      ? groupingReader(header, "Handle", recordOf)
      : { problem: "This is not a product export of Shopify: it has no columns \"Handle\" and \"Title\"." }
}
