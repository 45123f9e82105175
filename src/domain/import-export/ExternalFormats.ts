import { groupingReader, type KeyOf, type OpenTable, type Row } from "./CsvTable.ts"

/** Where a value is: in a column, or made of a line and all lines of its product. */
type Source = string | ((row: Row, rows: ReadonlyArray<Row>) => unknown)
type Sources = Readonly<Record<string, Source>>

/** The product export of another shop: which columns and lines hold what. */
interface ExternalFormat {
  readonly shop: string
  /** Columns by which the format is recognized. */
  readonly required: readonly [string, string]
  /** Where lines of a file belong. */
  readonly keyOf: () => KeyOf
  /** Whether the first line of a group describes the product, and not only a variant of it. */
  readonly isProduct: (row: Row) => boolean
  /** Lines that are sold: those of variants, and those of products without variants. */
  readonly isSold: (row: Row) => boolean
  readonly isVariant: (row: Row) => boolean
  readonly product: Sources
  readonly metadata: Sources
  readonly texts: Sources
  /** HTML or text. */
  readonly description: (row: Row) => string | undefined
  /** Names, which become slugs. */
  readonly categories: (row: Row) => ReadonlyArray<string | undefined>
  readonly brands: (row: Row) => ReadonlyArray<string | undefined>
  readonly options: (row: Row, rows: ReadonlyArray<Row>) => ReadonlyArray<object>
  readonly variant: Sources
  readonly variantMetadata: Sources
  readonly variantOptions: (row: Row, rows: ReadonlyArray<Row>) => Readonly<Record<string, string>>
  readonly prices: (row: Row) => ReadonlyArray<Sources>
  readonly stock: Sources
}

/** A text as a slug: letters and digits of any script in lower case, hyphens between them. */
const slugOf = (text: string): string =>
  text.normalize("NFKD").replace(/\p{Mn}/gu, "").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "")

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'", nbsp: " " }

const decoded = (whole: string, name: string): string => {
  if (!name.startsWith("#")) return entities[name.toLowerCase()] ?? whole
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
}

/** The readable text of HTML, for search and lists. The HTML is kept as well. */
const plainText = (html: string): string =>
  html
    .replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, "")
    .replace(/<(br|\/p|\/div|\/li|\/h[1-6]|\/tr)\b[^>]*>/gi, "\n")
    .replace(/<[^>]*>/g, "")
    .replace(/&(#?\w{1,10});/g, decoded)
    .replace(/[ \t]+/g, " ")
    .replace(/ ?\n[ \n]*/g, "\n")
    .trim()

const describe = (html: string | undefined): object => {
  if (html === undefined) return {}
  return /<\w|&\w+;/.test(html)
    ? { description: plainText(html), richDescription: { format: "html", html } }
    : { description: html }
}

/** The parts of a list between commas. */
const commaList = (text = ""): ReadonlyArray<string> =>
  text.split(",").map((part) => part.trim()).filter((part) => part !== "")

const list = (column: string) => (row: Row) => commaList(row.get(column))

const lastOf = (path: string | undefined): string | undefined => path?.split(">").at(-1)?.trim()

const slugs = (names: ReadonlyArray<string | undefined>): ReadonlyArray<string> =>
  [...new Set(names.map((name = "") => slugOf(name)))].filter((slug) => slug !== "")

/** Oversold stock counts as zero. */
const units = (text: string, form: RegExp): number | string =>
  form.test(text) ? Math.max(0, Math.trunc(Number(text))) : text

const grams = (weight: number): number | undefined => weight > 0 ? Math.round(weight) : undefined

/** The values of a line, without those that are missing or empty lists. */
const valuesOf = (sources: Sources, row: Row, rows: ReadonlyArray<Row> = []): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(sources).flatMap(([field, source]) => {
      const value = typeof source === "string" ? row.get(source) : source(row, rows)
      return value === undefined || (Array.isArray(value) && value.length === 0) ? [] : [[field, value]]
    })
  )

const places = [1, 2, 3] as const

/** Shopify writes apostrophes before codes that spreadsheets would take for numbers. */
const code = (column: string) => (row: Row) => row.get(column)?.replace(/^'/, "")

/** Option names are on the first line only; a product without options has one called Title. */
const shopifyOptions = ([first]: ReadonlyArray<Row>): ReadonlyArray<readonly [name: string, column: string]> => {
  const names = places.flatMap((place) => {
    const name = first?.get(`Option${place} Name`)
    return name === undefined ? [] : [[name, `Option${place} Value`] as const]
  })
  return names[0]?.[0] === "Title" && first?.get("Option1 Value") === "Default Title" ? [] : names
}

/** Pictures in the other shop's order; without positions, in the order of the lines. */
const shopifyImages = (_: Row, rows: ReadonlyArray<Row>) =>
  rows.map((row, index) => ({ row, place: Number(row.get("Image Position")) || index + 1 }))
    .filter(({ row }) => row.has("Image Src"))
    .toSorted((one, other) => one.place - other.place)
    .map(({ row }) => valuesOf({ src: "Image Src", alt: "Image Alt Text" }, row))

const isPublished = (row: Row): boolean => row.get("Published")?.toLowerCase() !== "false"
const isShopifyVariant = (row: Row): boolean =>
  ["Variant SKU", "Variant Price", "Option1 Value", "Variant Inventory Qty"].some((name) => row.has(name))

const shopify: ExternalFormat = {
  shop: "Shopify",
  required: ["Handle", "Title"],
  keyOf: () => (row) => row.get("Handle"),
  isProduct: () => true,
  isSold: isShopifyVariant,
  isVariant: isShopifyVariant,
  product: {
    type: () => "product",
    status: (row) => {
      const status = row.get("Status")?.toLowerCase() ?? ""
      return ["active", "draft", "archived"].includes(status) ? status : isPublished(row) ? "active" : "draft"
    },
    isVisible: isPublished
  },
  metadata: {
    vendor: "Vendor",
    productType: "Type",
    productCategory: "Product Category",
    tags: list("Tags"),
    images: shopifyImages
  },
  texts: { title: "Title", seoTitle: "SEO Title", seoDescription: "SEO Description" },
  description: (row) => row.get("Body (HTML)"),
  categories: (row) => [row.get("Type"), lastOf(row.get("Product Category"))],
  brands: (row) => [row.get("Vendor")],
  options: (_, rows) =>
    shopifyOptions(rows).map(([name, column]) => ({
      name,
      values: [...new Set(rows.flatMap((row) => row.get(column) ?? []))]
    })),
  variant: { sku: code("Variant SKU"), barcode: code("Variant Barcode") },
  variantMetadata: { weightGrams: (row) => grams(Number(row.get("Variant Grams"))), image: "Variant Image" },
  variantOptions: (row, rows) =>
    Object.fromEntries(
      shopifyOptions(rows).flatMap(([name, column]) => {
        const value = row.get(column)
        return value === undefined ? [] : [[name, value]]
      })
    ),
  prices: () => [{ amount: "Variant Price", compareAtAmount: "Variant Compare At Price" }],
  stock: {
    // Only stock that the other shop tracks.
    onHand: (row) =>
      row.has("Variant Inventory Tracker") ? units(row.get("Variant Inventory Qty") ?? "", /^-?\d+$/) : "",
    unitCost: "Cost per item"
  }
}

const maxAttributes = 50

/** The attribute names of a WooCommerce line with their values. */
const wooAttributes = (row: Row): ReadonlyArray<readonly [name: string, values: ReadonlyArray<string>]> =>
  Array.from({ length: maxAttributes }, (_, index) => index + 1).flatMap((place) => {
    const name = row.get(`Attribute ${place} name`)
    return name === undefined ? [] : [[name, commaList(row.get(`Attribute ${place} value(s)`))] as const]
  })

/** The types of a line: `simple, virtual`. */
const hasType = (...types: ReadonlyArray<string>) => (row: Row): boolean =>
  commaList(row.get("Type")?.toLowerCase()).some((type) => types.includes(type))

const isVariation = hasType("variation")
const isVariable = hasType("variable")

const startingWith = (start: string) => (row: Row) => [...row].find(([name]) => name.startsWith(start))

const wooGrams = (row: Row): number | undefined => {
  const [name, text] = startingWith("Weight (")(row) ?? []
  const factor = { kg: 1000, g: 1, lbs: 453.592_37, oz: 28.349_523_125 }[name?.slice(8, -1) ?? ""]
  return grams(Number(text) * (factor ?? Number.NaN))
}

const wooTaxClass = (row: Row) => row.get("Tax class") === "parent" ? undefined : row.get("Tax class")

const moment = (column: string) => (row: Row) => row.get(column)?.trim().replace(" ", "T")

/** A regular price, and the one while it is on sale. */
const wooPrices = (row: Row): ReadonlyArray<Sources> => {
  const regular = { amount: "Regular price" }
  if (!row.has("Regular price") || !row.has("Sale price")) return [regular]
  const reduced = { amount: "Sale price", compareAtAmount: "Regular price" }
  return row.has("Date sale price starts") || row.has("Date sale price ends")
    ? [regular, {
      ...reduced,
      validFrom: moment("Date sale price starts"),
      validUntil: moment("Date sale price ends")
    }]
    : [reduced]
}

/** A variation names its product, which precedes it, by ID or SKU. */
const wooKeys = (): KeyOf => {
  const parents = new Map<string, string>()
  const taken = new Set<string>()
  return (row) => {
    if (isVariation(row)) {
      return parents.get(row.get("Parent") ?? "none") ??
        { problem: `There is no product "${row.get("Parent") ?? ""}" before it.` }
    }
    // The given slug, else one from the name, with the product's ID appended if it is taken in this file.
    const wanted = row.get("Slug") ?? slugOf(row.get("Name") ?? "")
    const slug = taken.has(wanted) ? `${wanted}-${row.get("ID") ?? taken.size}` : wanted
    taken.add(wanted)
    if (slug === "") return { problem: "The product has no name." }
    for (const name of [`id:${row.get("ID")}`, row.get("SKU") ?? ""]) parents.set(name, slug)
    return slug
  }
}

const woocommerce: ExternalFormat = {
  shop: "WooCommerce",
  required: ["Type", "Name"],
  keyOf: wooKeys,
  isProduct: (row) => !isVariation(row),
  isSold: (row) => !isVariable(row),
  // A simple product with a SKU becomes its only variant, so that the SKU can be found.
  isVariant: (row) => isVariation(row) || (!isVariable(row) && row.has("SKU")),
  product: {
    type: (row) => hasType("downloadable", "virtual")(row) ? "digitalDownload" : "product",
    status: (row) => row.get("Published") === "1" ? "active" : "draft",
    isVisible: (row) => row.get("Published") === "1" && row.get("Visibility in catalog") !== "hidden",
    taxClass: wooTaxClass
  },
  metadata: {
    wooId: "ID",
    shortDescription: "Short description",
    tags: list("Tags"),
    images: (row) => commaList(row.get("Images")).map((src) => ({ src })),
    weightGrams: wooGrams
  },
  texts: { title: "Name" },
  description: (row) => row.get("Description") ?? row.get("Short description"),
  categories: (row) => commaList(row.get("Categories")).map(lastOf),
  brands: list("Brands"),
  options: (row) => isVariable(row) ? wooAttributes(row).map(([name, values]) => ({ name, values })) : [],
  variant: { sku: "SKU", barcode: (row) => startingWith("GTIN")(row)?.[1], taxClass: wooTaxClass },
  variantMetadata: { weightGrams: wooGrams, image: (row) => commaList(row.get("Images"))[0] },
  variantOptions: (row) =>
    isVariation(row)
      ? Object.fromEntries(wooAttributes(row).flatMap(([name, [value]]) => value === undefined ? [] : [[name, value]]))
      : {},
  prices: wooPrices,
  stock: { onHand: (row) => units(row.get("Stock") ?? "", /^-?\d+(\.0+)?$/) }
}

/** The product that some lines describe, with its prices and stock. */
const recordOf = (format: ExternalFormat) => (rows: ReadonlyArray<Row>, slug: string) => {
  const first = rows[0] ?? new Map<string, string>()
  const sold = rows.filter(format.isSold)
  const variants = rows.filter(format.isVariant).map((row) => ({
    ...valuesOf(format.variant, row),
    options: format.variantOptions(row, rows),
    metadata: valuesOf(format.variantMetadata, row)
  }))
  const offers = sold.map((row) => {
    const { sku } = valuesOf(format.variant, row)
    return { row, name: sku === undefined ? { options: format.variantOptions(row, rows) } : { sku } }
  })
  const product = format.isProduct(first)
    ? {
      ...valuesOf(format.product, first),
      metadata: valuesOf(format.metadata, first, rows),
      attributes: [{ ...valuesOf(format.texts, first), ...describe(format.description(first)) }],
      categories: slugs(format.categories(first)),
      brands: slugs(format.brands(first)),
      options: format.options(first, rows)
    }
    : {}
  return {
    product: { ...(slug === "" ? {} : { slug }), ...product, variants },
    prices: offers.flatMap(({ name, row }) =>
      format.prices(row).map((sources) => ({ ...name, ...valuesOf(sources, row) })).filter(has("amount"))
    ),
    stock: offers.map(({ name, row }) => ({ ...name, ...valuesOf(format.stock, row) })).filter(has("onHand"))
  }
}

const has = (field: string) => (values: Readonly<Record<string, unknown>>): boolean => (values[field] ?? "") !== ""

/** Reads product exports of other shops. Unknown columns are ignored. */
const externalTable = (format: ExternalFormat): OpenTable => (header) => {
  const [one, other] = format.required
  return header.includes(one) && header.includes(other)
    ? groupingReader(header, format.keyOf(), recordOf(format))
    : { problem: `This is not a product export of ${format.shop}: it has no columns "${one}" and "${other}".` }
}

export const externalTables = { shopify: externalTable(shopify), woocommerce: externalTable(woocommerce) }
