import { slugOf } from "../../platform/text/SlugText.ts"
import type { Row } from "../CsvTable.ts"
import { describe, type ExternalFormat, grams, optionsOf, parts, pathOf, present } from "./ExternalFormat.ts"
import { reducedFrom, type SoldLine, units } from "./ExternalFormat.ts"

const places = [1, 2, 3, 4, 5, 6]

const yes = (cell: string | undefined): boolean => /^(y|yes|true|1)$/i.test(cell?.trim() ?? "")

/** Amounts may have the sign of the currency; a variable price is asked at the till. */
const amountOf = (cell: string | undefined) =>
  cell === undefined || /variable/i.test(cell) ? undefined : cell.replace(/[^\d.,-]/g, "")

const startingWith = (row: Row, start: string) => [...row].filter(([name]) => name.startsWith(start))

const gramsOf = (row: Row): number | undefined => {
  const [name, text] = startingWith(row, "Weight (")[0] ?? []
  const factor = { kg: 1000, g: 1, lb: 453.592_37, oz: 28.349_523_125 }[name?.slice(8, -1) ?? ""]
  return grams(Number(text) * (factor ?? Number.NaN))
}

const quantity = "Current Quantity "

/** Counts of all locations; without any the variation is not counted. */
const stockOf = (row: Row) => {
  const counts = startingWith(row, quantity).map(([, cell]) => units(cell))
  const wrong = counts.find((count) => typeof count === "string")
  return wrong ?? (counts.length === 0 ? "" : counts.reduce<number>((sum, count) => sum + Number(count), 0))
}

const chosen = (row: Row, isAlone: boolean): Readonly<Record<string, string>> => {
  const named = places.flatMap((place) => {
    const [name, value] = [row.get(`Option Name ${place}`), row.get(`Option Value ${place}`)]
    return name === undefined || value === undefined ? [] : [[name, value] as const]
  })
  if (named.length > 0) return Object.fromEntries(named)
  return isAlone ? {} : { Variation: row.get("Variation Name") ?? "Regular" }
}

const soldLine = (row: Row, isAlone: boolean): SoldLine => {
  const onHand = stockOf(row)
  const [price, sale] = [amountOf(row.get("Price")), amountOf(row.get("Online Sale Price"))]
  return {
    isVariant: true,
    variant: { sku: row.get("SKU"), barcode: row.get("GTIN"), manageInventory: onHand !== "" },
    options: chosen(row, isAlone),
    metadata: { weightGrams: gramsOf(row), squareToken: row.get("Token") },
    prices: [sale === undefined ? { amount: price } : { amount: sale, compareAtAmount: reducedFrom(price, sale) }],
    stock: { onHand, unitCost: amountOf(row.get("Default Unit Cost")) }
  }
}

const types: Readonly<Record<string, string>> = { digital: "digitalDownload", service: "service" }

const warningsOf = (rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const locations = new Set(
    rows.flatMap((row) => startingWith(row, quantity).map(([name]) => name.slice(quantity.length)))
  )
  const modifiers = new Set(
    rows.flatMap((row) =>
      startingWith(row, "Modifier Set - ").flatMap(([name, cell]) => yes(cell) ? [name.slice(15)] : [])
    )
  )
  return [
    ...(rows.some((row) => /variable/i.test(row.get("Price") ?? ""))
      ? ["A variable price is asked at the till and not taken over: give the product a price."]
      : []),
    ...(locations.size > 1
      ? [`The stock of ${locations.size} locations was added up: ${[...locations].join(", ")}.`]
      : []),
    ...(modifiers.size > 0 ? [`Modifier sets are not taken over: ${[...modifiers].join(", ")}.`] : [])
  ]
}

/** Files of Square's item library: a line is a variation, and those with one item name are a product. */
export const square: ExternalFormat = {
  shop: "Square",
  required: ["Item Name", "Variation Name"],
  keys: () => ({
    take: (row) => {
      const name = row.get("Item Name")
      return { key: name === undefined ? undefined : slugOf(name) }
    }
  }),
  read: (rows, key) => {
    const main = rows[0] ?? new Map<string, string>()
    const sold = rows.map((row) => soldLine(row, rows.length === 1))
    const isVisible = !/hidden|unavailable/i.test(main.get("Square Online Item Visibility") ?? "")
    return {
      product: {
        slug: key,
        type: types[main.get("Item Type")?.toLowerCase() ?? ""] ?? "product",
        status: yes(main.get("Archived")) ? "archived" : "active",
        isVisible,
        metadata: present({ squareItemType: main.get("Item Type") }),
        attributes: [present({
          title: main.get("Item Name"),
          ...describe(main.get("Description")),
          seoTitle: main.get("SEO Title"),
          seoDescription: main.get("SEO Description")
        })],
        options: optionsOf(sold)
      },
      categories: parts(main.get("Categories") ?? main.get("Category")).map((path) => pathOf(path)),
      brands: [],
      sold,
      warnings: warningsOf(rows)
    }
  }
}
