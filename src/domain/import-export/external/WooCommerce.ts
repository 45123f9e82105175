import { slugOf } from "../../platform/text/SlugText.ts"
import type { Row } from "../CsvTable.ts"
import { describe, type ExternalFormat, grams, isTrue, parts, pathOf, plain, present } from "./ExternalFormat.ts"
import { optionsOf, reducedFrom, type RowKey, type Rows, type SoldLine, units, type Values } from "./ExternalFormat.ts"

const maxAttributes = 50

const attributesOf = (row: Row): ReadonlyArray<readonly [name: string, values: ReadonlyArray<string>]> =>
  Array.from({ length: maxAttributes }, (_, index) => index + 1).flatMap((place) => {
    const name = row.get(`Attribute ${place} name`)
    return name === undefined ? [] : [[name, parts(row.get(`Attribute ${place} value(s)`))] as const]
  })

const hasType = (...types: ReadonlyArray<string>) => (row: Row): boolean =>
  parts(row.get("Type")?.toLowerCase()).some((type) => types.includes(type))

const isVariation = hasType("variation")
const isVariable = hasType("variable")
const isGrouped = hasType("grouped")
const isExternal = hasType("external")

const startingWith = (start: string) => (row: Row) => [...row].find(([name]) => name.startsWith(start))

const gramsOf = (row: Row): number | undefined => {
  const [name, text] = startingWith("Weight (")(row) ?? []
  const factor = { kg: 1000, g: 1, lbs: 453.592_37, oz: 28.349_523_125 }[name?.slice(8, -1) ?? ""]
  return grams(Number(text?.replace(",", ".")) * (factor ?? Number.NaN))
}

const taxClassOf = (row: Row) => row.get("Tax class") === "parent" ? undefined : row.get("Tax class")

/** The file has `\n` for a line end, and `\\n` for what is no line end. */
const withLineEnds = (text: string | undefined) =>
  text?.split("\\\\n").map((part) => part.replaceAll("\\n", "\n")).join("\\n")

const moment = (text: string | undefined) => text?.trim().replace(" ", "T")

const pricesOf = (row: Row): ReadonlyArray<Values> => {
  const [regular, sale] = [row.get("Regular price"), row.get("Sale price")]
  if (regular === undefined || sale === undefined) return [{ amount: regular }]
  const [validFrom, validUntil] = [row.get("Date sale price starts"), row.get("Date sale price ends")].map(moment)
  const reduced = { amount: sale, compareAtAmount: reducedFrom(regular, sale), validFrom, validUntil }
  return validFrom === undefined && validUntil === undefined ? [reduced] : [{ amount: regular }, reduced]
}

/** What is in stock without a number is not counted; what is not has no unit. */
const stockOf = (row: Row) => {
  const [stock = "", state] = [row.get("Stock"), row.get("In stock?")?.trim().toLowerCase()]
  const isBackorder = state === "backorder"
  const allowBackorder = isBackorder || isTrue(row.get("Backorders allowed?"))
  const isNumber = stock !== "" && stock !== "parent"
  if (isNumber || state === undefined || stock === "parent") {
    const counted = { manageInventory: stock === "" ? undefined : true, allowBackorder }
    return { policy: counted, onHand: isNumber ? units(stock) : "" }
  }
  const isCounted = isBackorder || !isTrue(state)
  return { policy: { manageInventory: isCounted, allowBackorder }, onHand: isCounted ? 0 : "" }
}

const soldLine = (row: Row): SoldLine => {
  const values = isVariation(row) ? attributesOf(row) : []
  const { onHand, policy } = stockOf(row)
  return {
    // A simple product with a SKU becomes its only variant: the SKU can be found.
    isVariant: isVariation(row) || row.has("SKU"),
    variant: {
      sku: row.get("SKU"),
      barcode: startingWith("GTIN")(row)?.[1],
      taxClass: taxClassOf(row),
      ...policy
    },
    options: Object.fromEntries(values.flatMap(([name, [value]]) => value === undefined ? [] : [[name, value]])),
    metadata: { weightGrams: gramsOf(row), image: parts(row.get("Images"))[0] },
    prices: isExternal(row) ? [] : pricesOf(row),
    stock: { onHand, reorderThreshold: onHand === "" ? undefined : row.get("Low stock amount") }
  }
}

/** A variation names its product by ID or SKU. Products come before their variations, or behind them. */
const keys = (): Rows => {
  const products = new Map<string, string>()
  const taken = new Set<string>()
  const take = (row: Row): RowKey => {
    if (isVariation(row)) {
      const parent = row.get("Parent") ?? "none"
      const key = products.get(parent) ?? `parent ${parent}`
      products.set(parent, key)
      return { key }
    }
    const wanted = row.get("Slug") ?? (row.has("Name") ? slugOf(row.get("Name") ?? "") : "")
    if (wanted === "") return { problem: "The product has no name." }
    // A taken slug gets the product's ID.
    const slug = taken.has(wanted) ? `${wanted}-${row.get("ID") ?? taken.size}` : wanted
    taken.add(wanted)
    const names = [`id:${row.get("ID")}`, row.get("SKU") ?? ""]
    const key = names.map((name) => products.get(name)).find((one) => one?.startsWith("parent ")) ?? slug
    for (const name of names) products.set(name, key)
    return { key, row: new Map([...row, ["Slug", slug]]) }
  }
  return { take }
}

const warningsOf = (row: Row, variations: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const shared = isVariable(row) ? row.get("Stock") : undefined
  const isShared = shared !== undefined && variations.some((one) => one.get("Stock") === "parent" || !one.has("Stock"))
  return [
    ...(isGrouped(row)
      ? ["A grouped product comes in without a price and cannot be bought: metadata.grouped names its products."]
      : []),
    ...(isExternal(row)
      ? ["A product that is sold elsewhere comes in without a price and cannot be bought: see metadata.externalUrl."]
      : []),
    ...(isShared
      ? [`The variations share a stock of ${shared}, which variants here cannot: count what there is of each.`]
      : []),
    ...(row.get("Tax status") === "none"
      ? ["The product is not taxed in WooCommerce: give it a tax class without tax."]
      : [])
  ]
}

const readProduct = (row: Row, variations: ReadonlyArray<Row>) => {
  const isPublished = row.get("Published") === "1"
  const lines = isVariable(row) || isGrouped(row) ? variations : [row, ...variations]
  const sold = lines.map(soldLine)
  const options = optionsOf(sold)
  const isOption = (name: string) => options.some((option) => option["name"] === name)
  return {
    product: {
      slug: row.get("Slug"),
      type: hasType("downloadable", "virtual")(row) ? "digitalDownload" : "product",
      status: isPublished ? "active" : "draft",
      isVisible: isPublished && row.get("Visibility in catalog") !== "hidden",
      ...present({ taxClass: taxClassOf(row) }),
      metadata: present({
        wooId: row.get("ID"),
        shortDescription: withLineEnds(row.get("Short description")),
        tags: parts(row.get("Tags")),
        images: parts(row.get("Images")).map((src) => ({ src })),
        weightGrams: gramsOf(row),
        externalUrl: row.get("External URL"),
        grouped: parts(row.get("Grouped products"))
      }),
      attributes: [
        present({
          title: row.get("Name"),
          ...describe(withLineEnds(row.get("Description") ?? row.get("Short description")))
        })
      ],
      options: isVariable(row)
        ? attributesOf(row).filter(([name]) => variations.length === 0 || isOption(name))
          .map(([name, values]) => ({ name, values }))
        : []
    },
    categories: parts(row.get("Categories")).map((path) => pathOf(path)),
    brands: parts(row.get("Brands")).map(plain),
    sold,
    warnings: warningsOf(row, variations)
  }
}

/** Product exports of WooCommerce. */
export const woocommerce: ExternalFormat = {
  shop: "WooCommerce",
  required: ["Type", "Name"],
  keys,
  read: (rows, key) => {
    const row = rows.find((one) => !isVariation(one))
    return row === undefined
      ? { problem: `There is no product "${key.replace(/^parent /, "")}" in the file.` }
      : readProduct(row, rows.filter(isVariation))
  }
}
