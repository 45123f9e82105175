import { Schema } from "effect"
import { readExternal } from "stoa/plugin"
import type { ChannelProduct } from "../ChannelRecords.ts"
import { numberIn, Struct, Text } from "./ShopifyApi.ts"

/** A product, variant or picture as Shopify has it. */
export const itemWith = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Struct({ id: Text, ...fields }), [Schema.Record(Text, Schema.Unknown)])
export const Item = itemWith({})
export type Item = typeof Item.Type

/** Columns of the product file, and their fields. */
const columns = {
  product: {
    "Title": "title",
    "Body (HTML)": "descriptionHtml",
    "Vendor": "vendor",
    "Product Category": "category.fullName",
    "Type": "productType",
    "Tags": "tags",
    "Status": "status",
    "Gift Card": "isGiftCard",
    "SEO Title": "seo.title",
    "SEO Description": "seo.description"
  },
  variant: {
    "Variant SKU": "sku",
    "Variant Barcode": "barcode",
    "Variant Price": "price",
    "Variant Compare At Price": "compareAtPrice",
    "Variant Inventory Policy": "inventoryPolicy",
    "Variant Inventory Qty": "inventoryQuantity",
    "Cost per item": "inventoryItem.unitCost.amount"
  },
  picture: { "Image Src": "image.url", "Image Alt Text": "alt" }
}
const [tracked, weight] = ["inventoryItem.tracked", "inventoryItem.measurement.weight"]
const grams: Readonly<Record<string, number>> = { KILOGRAMS: 1_000, OUNCES: 28.349523125, POUNDS: 453.59237 }

const fieldsOf = (paths: ReadonlyArray<string>) =>
  paths.map((path) => path.replaceAll(".", " { ") + " }".repeat(path.split(".").length - 1)).join(" ")
export const fields = {
  product: fieldsOf(["id", "handle", "publishedAt", ...Object.values(columns.product)]),
  variant: `${fieldsOf(["id", tracked, `${weight}.value`, `${weight}.unit`, ...Object.values(columns.variant)])}
    selectedOptions { name value }`,
  picture: "id alt ... on MediaImage { image { url } }"
}

const at = (item: unknown, path: string): unknown =>
  path.split(".").reduce((value: unknown, name) => Reflect.get(Object(value), name), item)

/** Empty cells are absent, as they are in files. */
const row = (item: unknown, paths: Readonly<Record<string, string>>) =>
  new Map(
    Object.entries(paths).flatMap(([column, path]) => {
      const text = String(at(item, path) ?? "")
      return text === "" ? [] : [[column, text] as const]
    })
  )

const variantRow = (variant: Item, picture: Item | undefined) => {
  const cells = row(variant, columns.variant)
  const [amount, unit] = [Number(at(variant, `${weight}.value`) ?? 0), String(at(variant, `${weight}.unit`))]
  for (const n of [1, 2, 3]) {
    const option = { [`Option${n} Name`]: `${n - 1}.name`, [`Option${n} Value`]: `${n - 1}.value` }
    for (const [column, text] of row(variant["selectedOptions"], option)) cells.set(column, text)
  }
  for (const [, url] of row(picture, { "Image Src": "image.url" })) cells.set("Variant Image", url)
  return cells.set("Variant Grams", String(amount * (grams[unit] ?? 1)))
    .set("Variant Inventory Tracker", at(variant, tracked) === true ? "shopify" : "")
}

/** Reads a product as the rows of a product file are read; undefined for one without variants. */
export const channelProduct = (
  product: Item,
  childrenOf: (id: string) => ReadonlyArray<Item>
): ChannelProduct | undefined => {
  const children = childrenOf(product.id)
  // As the key of a file.
  const handle = String(product["handle"]).trim().normalize("NFC").toLowerCase()
  const variants = children.filter(({ id }) => id.includes("/ProductVariant/"))
  const [first, ...others] = variants.map(({ id }) => numberIn(id))
  const published = String(product["publishedAt"] !== null)
  const draft = readExternal("shopify", [
    row(product, columns.product).set("Published", published),
    ...variants.map((one) => variantRow(one, childrenOf(one.id)[0])),
    ...children.filter((one) => !variants.includes(one)).map((one) => row(one, columns.picture))
  ], handle)
  if (first === undefined || "problem" in draft) return undefined
  return { externalId: numberIn(product.id), slug: handle, draft, unitIds: [first, ...others] }
}
