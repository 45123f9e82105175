import { slugOf } from "../../platform/text/SlugText.ts"
import type { Row } from "../CsvTable.ts"
import { describe, type ExternalFormat, grams, optionsOf, parts, type RowPart, type Rows } from "./ExternalFormat.ts"
import { pathOf, present, reducedFrom, type SoldLine, units, type Values } from "./ExternalFormat.ts"

/** `name=value` pairs with a comma between them; a comma that no name follows belongs to its value. */
const pairs = (text: string | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (text ?? "").split(/,(?=[^,=|]+=)/).flatMap((pair) => {
      const at = pair.indexOf("=")
      return at < 1 ? [] : [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const]
    })
  )

interface Variation {
  readonly sku: string
  readonly options: Readonly<Record<string, string>>
}

/** Variations of a configurable product, with the names that people see. */
const variationsOf = (row: Row): ReadonlyArray<Variation> => {
  const labels = pairs(row.get("configurable_variation_labels"))
  return parts(row.get("configurable_variations"), "|").map((text) => {
    const { sku = "", ...options } = pairs(text)
    return {
      sku,
      options: Object.fromEntries(Object.entries(options).map(([name, value]) => [labels[name] ?? name, value]))
    }
  })
}

const typeOf = (row: Row | undefined) => row?.get("product_type")?.toLowerCase() ?? ""

/** A row of another store view has texts only. */
const isMain = (row: Row): boolean => !row.has("store_view_code")

/** Dates come as ISO or as `2/1/24, 12:00 AM`. */
const dayOf = (text: string | undefined): string | undefined => {
  const [, month = "", day = "", year = ""] = /^(\d{1,2})\/(\d{1,2})\/(\d{2,4})/.exec(text?.trim() ?? "") ?? []
  if (year === "") return text?.trim().slice(0, 10)
  return [year.padStart(4, "20"), month.padStart(2, "0"), day.padStart(2, "0")].join("-")
}

const pricesOf = (row: Row): ReadonlyArray<Values> => {
  const [amount, special] = [row.get("price"), row.get("special_price")]
  if (special === undefined) return [{ amount }]
  const validFrom = dayOf(row.get("special_price_from_date"))
  const validUntil = dayOf(row.get("special_price_to_date"))
  const reduced = { amount: special, compareAtAmount: reducedFrom(amount, special), validFrom, validUntil }
  return validFrom === undefined && validUntil === undefined ? [reduced] : [{ amount }, reduced]
}

const isOn = (cell: string | undefined): boolean => cell !== undefined && Number(cell) > 0

const soldLine = (row: Row, options: Variation["options"]): SoldLine => {
  const isCounted = isOn(row.get("use_config_manage_stock")) || row.get("manage_stock") === undefined ||
    isOn(row.get("manage_stock"))
  const qty = row.get("qty")
  return {
    isVariant: true,
    variant: {
      sku: row.get("sku"),
      manageInventory: isCounted,
      allowBackorder: !isOn(row.get("use_config_backorders")) && isOn(row.get("allow_backorders"))
    },
    options,
    metadata: { weightKg: row.get("weight") },
    prices: pricesOf(row),
    stock: { onHand: isCounted && qty !== undefined ? units(qty) : "", unitCost: row.get("cost") }
  }
}

/** Most rows that wait for the product which they are variations of. */
const maxWaiting = 10_000

/**
 * A configurable product names its variations, which stand before it in exports: simple products that are not shown wait
 * for the one that names them.
 */
const keys = (): Rows => {
  const waiting = new Map<string, ReadonlyArray<Row>>()
  const parents = new Map<string, string>()
  const released = (sku: string, key: string): ReadonlyArray<RowPart> => {
    const rows = waiting.get(sku) ?? []
    waiting.delete(sku)
    return rows.map((row) => ({ key, row }))
  }
  return {
    take: (row) => {
      const sku = row.get("sku")
      if (sku === undefined) return { problem: "The row has no sku." }
      if (typeOf(row) === "configurable") {
        const children = variationsOf(row)
        for (const child of children) parents.set(child.sku, sku)
        return { parts: [{ key: sku, row }, ...children.flatMap((child) => released(child.sku, sku))] }
      }
      const parent = parents.get(sku)
      if (parent !== undefined) return { key: parent }
      if (waiting.has(sku) || (isMain(row) && /^not visible/i.test(row.get("visibility") ?? ""))) {
        waiting.set(sku, [...waiting.get(sku) ?? [], row])
        const [oldest] = waiting.size > maxWaiting ? waiting.keys() : []
        return { parts: oldest === undefined ? [] : released(oldest, oldest) }
      }
      return { key: sku }
    },
    rest: () => [...waiting.keys()].flatMap((sku) => released(sku, sku))
  }
}

const imagesOf = (row: Row) =>
  [row.get("base_image"), ...parts(row.get("additional_images"))]
    .filter((src) => src !== undefined && /^https?:/.test(src))
    .map((src) => ({ src }))

const categoriesOf = (row: Row): ReadonlyArray<ReadonlyArray<string>> => {
  const text = row.get("categories")
  return parts(text, text?.includes("|") === true ? "|" : ",").map((path) => pathOf(path, "/").slice(1))
}

const warningsOf = (main: Row, rows: ReadonlyArray<Row>, missing: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...(typeOf(main) === "grouped" || typeOf(main) === "bundle"
    ? [`A ${typeOf(main)} product comes in without a price and cannot be bought: its parts are products of their own.`]
    : []),
  ...(rows.every(isMain) ? [] : ["Texts of other store views are not taken over."]),
  ...(missing.length > 0 ? [`The file has no rows of these variations: ${missing.slice(0, 10).join(", ")}.`] : [])
]

/** Product exports of Magento (Adobe Commerce). Tax classes stay in the metadata: every product has one there. */
export const magento: ExternalFormat = {
  shop: "Magento",
  required: ["sku", "product_type"],
  keys,
  read: (rows, key) => {
    const all = rows.filter(isMain)
    const main = all.find((row) => row.get("sku") === key) ?? all[0]
    if (main === undefined) return { problem: `The file has no row of "${key}" for the default store view.` }
    const bySku = new Map(all.map((row) => [row.get("sku") ?? "", row]))
    const variations = variationsOf(main)
    const lines = typeOf(main) === "configurable"
      ? variations.flatMap(({ options, sku }) => {
        const row = bySku.get(sku)
        return row === undefined ? [] : [soldLine(row, options)]
      })
      : typeOf(main) === "grouped" || typeOf(main) === "bundle"
      ? []
      : [soldLine(main, {})]
    const name = main.get("name")
    const isVisible = !/^not visible/i.test(main.get("visibility") ?? "")
    return {
      product: {
        slug: main.get("url_key") ?? slugOf(name ?? key),
        type: ["virtual", "downloadable"].includes(typeOf(main)) ? "digitalDownload" : "product",
        status: (main.get("product_online") ?? "1") === "1" ? "active" : "draft",
        isVisible,
        metadata: present({
          magentoSku: key,
          attributeSet: main.get("attribute_set_code"),
          taxClassName: main.get("tax_class_name"),
          attributes: main.has("additional_attributes") ? pairs(main.get("additional_attributes")) : undefined,
          weightKg: grams(Number(main.get("weight"))) === undefined ? undefined : main.get("weight"),
          images: imagesOf(main)
        }),
        attributes: [present({
          title: name,
          ...describe(main.get("description") ?? main.get("short_description")),
          seoTitle: main.get("meta_title"),
          seoDescription: main.get("meta_description")
        })],
        options: optionsOf(lines)
      },
      categories: categoriesOf(main),
      brands: [],
      sold: lines,
      warnings: warningsOf(main, rows, variations.map(({ sku }) => sku).filter((sku) => !bySku.has(sku)))
    }
  }
}
