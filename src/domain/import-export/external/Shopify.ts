import type { Row } from "../CsvTable.ts"
import { describe, type ExternalFormat, grams, isTrue, optionsOf, parts, pathOf, present } from "./ExternalFormat.ts"
import { reducedFrom, type SoldLine, units } from "./ExternalFormat.ts"

const places = [1, 2, 3] as const

/** Columns of the present template, by the names that exports had before. */
const aliases = {
  "url handle": "Handle",
  "description": "Body (HTML)",
  "published on online store": "Published",
  "sku": "Variant SKU",
  "barcode": "Variant Barcode",
  "price": "Variant Price",
  "compare-at price": "Variant Compare At Price",
  "inventory tracker": "Variant Inventory Tracker",
  "inventory quantity": "Variant Inventory Qty",
  "continue selling when out of stock": "Variant Inventory Policy",
  "weight value (grams)": "Variant Grams",
  "product image url": "Image Src",
  "variant image url": "Variant Image"
}

const columns = [
  "Handle",
  "Title",
  "Body (HTML)",
  "Vendor",
  "Product Category",
  "Type",
  "Tags",
  "Published",
  "Status",
  "Gift Card",
  "SEO Title",
  "SEO Description",
  "Cost per item",
  "Image Src",
  "Image Position",
  "Image Alt Text",
  ...places.flatMap((place) => [`Option${place} Name`, `Option${place} Value`]),
  ...["SKU", "Barcode", "Grams", "Price", "Compare At Price", "Image"].map((name) => `Variant ${name}`),
  ...["Inventory Tracker", "Inventory Qty", "Inventory Policy"].map((name) => `Variant ${name}`)
]

/** Names of options are on one line only; a product without options has one called Title. */
const axesOf = (rows: ReadonlyArray<Row>): ReadonlyArray<readonly [name: string, column: string]> => {
  const axes = places.flatMap((place) => {
    const column = `Option${place} Value`
    const named = rows.find((row) => row.has(`Option${place} Name`))?.get(`Option${place} Name`)
    return named === undefined ? [] : [[named, column] as const]
  })
  return axes[0]?.[0] === "Title" &&
      rows.every((row) => (row.get("Option1 Value") ?? "Default Title") === "Default Title")
    ? []
    : axes
}

const imagesOf = (rows: ReadonlyArray<Row>) =>
  rows.map((row, index) => ({ row, place: Number(row.get("Image Position")) || index + 1 }))
    .filter(({ row }) => row.has("Image Src"))
    .toSorted((one, other) => one.place - other.place)
    .map(({ row }) => present({ src: row.get("Image Src"), alt: row.get("Image Alt Text") }))

/** Shopify writes apostrophes before codes that spreadsheets would take for numbers. */
const codeOf = (text: string | undefined) => text?.replace(/^'/, "")

const soldBy = ["Variant SKU", "Variant Price", "Option1 Value", "Variant Inventory Qty"]

/** A variant that nothing tracks is not counted. */
const policyOf = (row: Row) => {
  const [tracker, policy] = [row.get("Variant Inventory Tracker"), row.get("Variant Inventory Policy")]
  return {
    manageInventory: tracker === undefined ? undefined : tracker !== "",
    allowBackorder: policy === undefined ? undefined : isTrue(policy)
  }
}

const soldLine = (row: Row, axes: ReturnType<typeof axesOf>): SoldLine => {
  const amount = row.get("Variant Price")
  const options = axes.flatMap(([name, column]) => row.has(column) ? [[name, row.get(column) ?? ""] as const] : [])
  const isTracked = (row.get("Variant Inventory Tracker") ?? "") !== ""
  return {
    isVariant: true,
    variant: {
      sku: codeOf(row.get("Variant SKU")),
      barcode: codeOf(row.get("Variant Barcode")),
      ...policyOf(row)
    },
    options: Object.fromEntries(options),
    metadata: { weightGrams: grams(Number(row.get("Variant Grams"))), image: row.get("Variant Image") },
    prices: [{ amount, compareAtAmount: reducedFrom(row.get("Variant Compare At Price"), amount) }],
    stock: {
      onHand: isTracked ? units(row.get("Variant Inventory Qty") ?? "") : "",
      unitCost: row.get("Cost per item")
    }
  }
}

const statuses: Readonly<Record<string, string>> = {
  active: "active",
  draft: "draft",
  archived: "archived",
  unlisted: "active"
}

/** Product exports of Shopify with the columns of now and of before. Lines of a product may stand anywhere. */
export const shopify: ExternalFormat = {
  shop: "Shopify",
  required: ["Handle", "Title"],
  aliases: { ...Object.fromEntries(columns.map((name) => [name.toLowerCase(), name])), ...aliases },
  telling: ["Variant Inventory Tracker", "Variant Inventory Policy"],
  keys: () => ({ take: (row) => ({ key: row.get("Handle")?.trim().normalize("NFC").toLowerCase() }) }),
  read: (rows) => {
    const main = rows.find((row) => row.has("Title")) ?? rows[0] ?? new Map<string, string>()
    const axes = axesOf(rows)
    const status = main.get("Status")?.trim().toLowerCase() ?? ""
    const isVisible = (main.get("Published")?.toLowerCase() ?? "true") !== "false" && status !== "unlisted"
    const sold = rows.filter((row) => soldBy.some((column) => row.has(column))).map((row) => soldLine(row, axes))
    const [category, type] = [pathOf(main.get("Product Category")), main.get("Type")]
    return {
      product: {
        type: "product",
        status: statuses[status] ?? (isVisible ? "active" : "draft"),
        isVisible,
        metadata: present({
          vendor: main.get("Vendor"),
          productType: type,
          productCategory: main.get("Product Category"),
          tags: parts(main.get("Tags")),
          images: imagesOf(rows)
        }),
        attributes: [present({
          title: main.get("Title"),
          ...describe(main.get("Body (HTML)")),
          seoTitle: main.get("SEO Title"),
          seoDescription: main.get("SEO Description")
        })],
        options: optionsOf(sold)
      },
      categories: [type === undefined ? [] : [type], category],
      brands: [main.get("Vendor") ?? ""],
      sold,
      warnings: isTrue(main.get("Gift Card"))
        ? ["A gift card of Shopify comes in as an ordinary product: create a product of gift cards in its place."]
        : []
    }
  }
}
