import { Record } from "effect"
import type { OpenTable, Row, TableReader } from "./CsvTable.ts"

type Values = Readonly<Record<string, unknown>>

interface SoldLine {
  readonly isVariant: boolean
  readonly variant: Values
  readonly options: Readonly<Record<string, string>>
  readonly metadata: Values
  readonly prices: ReadonlyArray<Values>
  readonly stock: Values
}

interface ExternalFormat {
  readonly shop: string
  readonly required: readonly [string, string]
  readonly keyOf: () => TableReader["keyOf"]
  readonly productOf: (first: Row, rows: ReadonlyArray<Row>) => Values | undefined
  readonly soldBy: (row: Row, rows: ReadonlyArray<Row>) => SoldLine | undefined
}

const present = Record.filter((value: unknown) => value !== undefined && !(Array.isArray(value) && value.length === 0))

const slugOf = (text: string): string =>
  text.normalize("NFKD").replace(/\p{Mn}/gu, "").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "")

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'", nbsp: " " }

const decoded = (whole: string, name: string): string => {
  if (!name.startsWith("#")) return entities[name.toLowerCase()] ?? whole
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
}

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

const commaList = (text = ""): ReadonlyArray<string> =>
  text.split(",").map((part) => part.trim()).filter((part) => part !== "")

const lastOf = (path: string | undefined): string | undefined => path?.split(">").at(-1)?.trim()

const slugs = (names: ReadonlyArray<string | undefined>): ReadonlyArray<string> =>
  [...new Set(names.map((name = "") => slugOf(name)))].filter((slug) => slug !== "")

/** Oversold stock counts as zero. */
const units = (text: string, form: RegExp): number | string =>
  form.test(text) ? Math.max(0, Math.trunc(Number(text))) : text

const grams = (weight: number): number | undefined => weight > 0 ? Math.round(weight) : undefined

const places = [1, 2, 3] as const

/** Option names are on the first line only; a product without options has one called Title. */
const shopifyOptions = ([first]: ReadonlyArray<Row>): ReadonlyArray<readonly [name: string, column: string]> => {
  const names = places.flatMap((place) => {
    const name = first?.get(`Option${place} Name`)
    return name === undefined ? [] : [[name, `Option${place} Value`] as const]
  })
  return names[0]?.[0] === "Title" && first?.get("Option1 Value") === "Default Title" ? [] : names
}

const shopifyImages = (rows: ReadonlyArray<Row>) =>
  rows.map((row, index) => ({ row, place: Number(row.get("Image Position")) || index + 1 }))
    .filter(({ row }) => row.has("Image Src"))
    .toSorted((one, other) => one.place - other.place)
    .map(({ row }) => present({ src: row.get("Image Src"), alt: row.get("Image Alt Text") }))

/** Shopify writes apostrophes before codes that spreadsheets would take for numbers. */
const shopifyCode = (text: string | undefined) => text?.replace(/^'/, "")

const soldByShopify = ["Variant SKU", "Variant Price", "Option1 Value", "Variant Inventory Qty"]

const shopify: ExternalFormat = {
  shop: "Shopify",
  required: ["Handle", "Title"],
  keyOf: () => (row) => row.get("Handle"),
  productOf: (row, rows) => {
    const status = row.get("Status")?.toLowerCase() ?? ""
    const isVisible = row.get("Published")?.toLowerCase() !== "false"
    return {
      type: "product",
      status: ["active", "draft", "archived"].includes(status) ? status : isVisible ? "active" : "draft",
      isVisible,
      metadata: present({
        vendor: row.get("Vendor"),
        productType: row.get("Type"),
        productCategory: row.get("Product Category"),
        tags: commaList(row.get("Tags")),
        images: shopifyImages(rows)
      }),
      attributes: [present({
        title: row.get("Title"),
        ...describe(row.get("Body (HTML)")),
        seoTitle: row.get("SEO Title"),
        seoDescription: row.get("SEO Description")
      })],
      categories: slugs([row.get("Type"), lastOf(row.get("Product Category"))]),
      brands: slugs([row.get("Vendor")]),
      options: shopifyOptions(rows).map(([name, column]) => ({
        name,
        values: [...new Set(rows.flatMap((one) => one.get(column) ?? []))]
      }))
    }
  },
  soldBy: (row, rows) => {
    if (!soldByShopify.some((column) => row.has(column))) return undefined
    // Only stock that the other shop tracks.
    const isTracked = row.has("Variant Inventory Tracker")
    return {
      isVariant: true,
      variant: { sku: shopifyCode(row.get("Variant SKU")), barcode: shopifyCode(row.get("Variant Barcode")) },
      options: Object.fromEntries(
        shopifyOptions(rows).map(([name, column]) => [name, row.get(column) ?? ""]).filter(([, value]) => value !== "")
      ),
      metadata: { weightGrams: grams(Number(row.get("Variant Grams"))), image: row.get("Variant Image") },
      prices: [{ amount: row.get("Variant Price"), compareAtAmount: row.get("Variant Compare At Price") }],
      stock: {
        onHand: isTracked ? units(row.get("Variant Inventory Qty") ?? "", /^-?\d+$/) : "",
        unitCost: row.get("Cost per item")
      }
    }
  }
}

const maxAttributes = 50

const wooAttributes = (row: Row): ReadonlyArray<readonly [name: string, values: ReadonlyArray<string>]> =>
  Array.from({ length: maxAttributes }, (_, index) => index + 1).flatMap((place) => {
    const name = row.get(`Attribute ${place} name`)
    return name === undefined ? [] : [[name, commaList(row.get(`Attribute ${place} value(s)`))] as const]
  })

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

const moment = (text: string | undefined) => text?.trim().replace(" ", "T")

const wooPrices = (row: Row): ReadonlyArray<Values> => {
  const [regular, sale] = [row.get("Regular price"), row.get("Sale price")]
  if (regular === undefined || sale === undefined) return [{ amount: regular }]
  const [validFrom, validUntil] = [row.get("Date sale price starts"), row.get("Date sale price ends")].map(moment)
  const reduced = { amount: sale, compareAtAmount: regular, validFrom, validUntil }
  return validFrom === undefined && validUntil === undefined ? [reduced] : [{ amount: regular }, reduced]
}

/** A variation names its product, which precedes it, by ID or SKU. */
const wooKeys = (): TableReader["keyOf"] => {
  const parents = new Map<string, string>()
  const taken = new Set<string>()
  return (row) => {
    if (isVariation(row)) {
      return parents.get(row.get("Parent") ?? "none") ??
        { problem: `There is no product "${row.get("Parent") ?? ""}" before it.` }
    }
    // A taken slug gets the product's ID.
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
  productOf: (row) => {
    if (isVariation(row)) return undefined
    const isPublished = row.get("Published") === "1"
    return {
      type: hasType("downloadable", "virtual")(row) ? "digitalDownload" : "product",
      status: isPublished ? "active" : "draft",
      isVisible: isPublished && row.get("Visibility in catalog") !== "hidden",
      ...present({ taxClass: wooTaxClass(row) }),
      metadata: present({
        wooId: row.get("ID"),
        shortDescription: row.get("Short description"),
        tags: commaList(row.get("Tags")),
        images: commaList(row.get("Images")).map((src) => ({ src })),
        weightGrams: wooGrams(row)
      }),
      attributes: [
        present({ title: row.get("Name"), ...describe(row.get("Description") ?? row.get("Short description")) })
      ],
      categories: slugs(commaList(row.get("Categories")).map(lastOf)),
      brands: slugs(commaList(row.get("Brands"))),
      options: isVariable(row) ? wooAttributes(row).map(([name, values]) => ({ name, values })) : []
    }
  },
  soldBy: (row) => {
    if (isVariable(row)) return undefined
    const values = isVariation(row) ? wooAttributes(row) : []
    return {
      // A simple product with a SKU becomes its only variant: the SKU can be found.
      isVariant: isVariation(row) || row.has("SKU"),
      variant: { sku: row.get("SKU"), barcode: startingWith("GTIN")(row)?.[1], taxClass: wooTaxClass(row) },
      options: Object.fromEntries(values.flatMap(([name, [value]]) => value === undefined ? [] : [[name, value]])),
      metadata: { weightGrams: wooGrams(row), image: commaList(row.get("Images"))[0] },
      prices: wooPrices(row),
      stock: { onHand: units(row.get("Stock") ?? "", /^-?\d+(\.0+)?$/) }
    }
  }
}

const recordOf = ({ productOf, soldBy }: ExternalFormat) => (rows: ReadonlyArray<Row>, slug: string) => {
  const sold = rows.flatMap((row) => soldBy(row, rows) ?? [])
    .map((line) => ({
      ...line,
      name: line.variant["sku"] === undefined ? { options: line.options } : { sku: line.variant["sku"] }
    }))
  return {
    product: {
      ...(slug === "" ? {} : { slug }),
      ...productOf(rows[0] ?? new Map<string, string>(), rows),
      variants: sold.filter(({ isVariant }) => isVariant).map(({ metadata, options, variant }) => ({
        ...present(variant),
        options,
        metadata: present(metadata)
      }))
    },
    prices: sold.flatMap(({ name, prices }) => prices.map((price) => present({ ...name, ...price })))
      .filter(has("amount")),
    stock: sold.map(({ name, stock }) => present({ ...name, ...stock })).filter(has("onHand"))
  }
}

const has = (field: string) => (values: Readonly<Record<string, unknown>>): boolean => (values[field] ?? "") !== ""

const externalTable = (format: ExternalFormat): OpenTable => (header) => {
  const [one, other] = format.required
  return header.includes(one) && header.includes(other)
    ? { keyOf: format.keyOf(), recordOf: recordOf(format) }
    : { problem: `This is not a product export of ${format.shop}: it has no columns "${one}" and "${other}".` }
}

export const externalTables = { shopify: externalTable(shopify), woocommerce: externalTable(woocommerce) }
