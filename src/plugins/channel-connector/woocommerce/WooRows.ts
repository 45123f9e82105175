import { Schema } from "effect"
import { unescape } from "node:querystring"
import { slugOf } from "stoa/plugin"
import { textOf } from "./WooApi.ts"

const Thing = Schema.Record(Schema.String, Schema.Unknown)
const Things = Schema.optional(Schema.Array(Thing))
const typed = { categories: Things, brands: Things, tags: Things, images: Things, attributes: Things }

/** A product or a variation, of which the API says more than anyone asks for. */
export const WooProduct = Schema.StructWithRest(Schema.Struct({ id: Schema.Int, ...typed }), [Thing])
export type WooProduct = typeof WooProduct.Type

/** Fields whose columns have their names: `Tax class`. */
const plain = ["name", "tax_status", "low_stock_amount", "regular_price", "sale_price"]
const other =
  "id,type,slug,status,parent_id,sku,global_unique_id,weight,description,short_description,catalog_visibility," +
  "external_url,virtual,downloadable,stock_status,stock_quantity,manage_stock,backorders,tax_class,image," +
  "date_on_sale_from_gmt,date_on_sale_to_gmt"

/** What to ask for; `edit` shows texts as they were written, as the file has them. */
export const askedFields = { context: "edit", _fields: [...Object.keys(typed), ...plain, other].join() }

const columnOf = (field: string) => `${field.charAt(0).toUpperCase()}${field.slice(1).replaceAll("_", " ")}`
const listOf = (values: ReadonlyArray<unknown> = []) =>
  values.map((one) => textOf(one).replaceAll(",", "\\,")).filter((one) => one !== "").join(", ")
const namesOf = (things: typeof Things.Type) => listOf(things?.map(({ name }) => name))
const linesOf = (value: unknown) => textOf(value).replaceAll("\\n", "\\\\n").replaceAll("\n", "\\n")
const momentOf = (value: unknown) => value ? `${textOf(value)}+00:00` : ""

/** The slug of a product; a draft has none before it is published. */
export const wooSlug = ({ id, name, slug }: WooProduct): string =>
  slugOf(unescape(textOf(slug)) || textOf(name) || `${id}`)

/** A disabled variation is there, and sold out. */
const disabled = { manage_stock: true, stock_quantity: 0, stock_status: "outofstock", backorders: "no" }

/** A product, or a variation of one, as a row of WooCommerce's file. The API shows what a variation inherits, the file does not. */
export const wooRow = (
  shown: WooProduct,
  of: { readonly weightUnit: string; readonly path: (id: unknown) => string },
  above?: WooProduct
) => {
  const one = above !== undefined && shown["status"] !== "publish" ? { ...shown, ...disabled } : shown
  const own = (field: string) => one[field] === above?.[field] ? "" : textOf(one[field])
  const images = one.images ?? [Object(one["image"])]
  const cells = {
    ...Object.fromEntries(plain.map((field) => [columnOf(field), textOf(one[field])])),
    "ID": textOf(one.id),
    "Type": [textOf(one["type"]) || "variation", ...["virtual", "downloadable"].filter((name) => one[name] === true)]
      .join(),
    "SKU": own("sku"),
    "GTIN, UPC, EAN, or ISBN": own("global_unique_id"),
    "Slug": wooSlug(one),
    "Published": one["status"] === "publish" ? "1" : "0",
    "Visibility in catalog": textOf(one["catalog_visibility"]),
    "Description": linesOf(one["description"]),
    "Short description": linesOf(one["short_description"]),
    "Date sale price starts": momentOf(one["date_on_sale_from_gmt"]),
    "Date sale price ends": momentOf(one["date_on_sale_to_gmt"]),
    "In stock?": one["stock_status"] === "onbackorder" ? "backorder" : one["stock_status"] === "instock" ? "1" : "0",
    "Stock": textOf(one["manage_stock"] === true ? one["stock_quantity"] : one["manage_stock"]),
    "Tax class": own("tax_class"),
    "Backorders allowed?": one["backorders"] === "yes" ? "1" : textOf(one["backorders"]),
    [`Weight (${of.weightUnit})`]: own("weight"),
    "Categories": listOf(one.categories?.map(({ id }) => of.path(id))),
    "Tags": namesOf(one.tags),
    "Brands": namesOf(one.brands),
    "Images": listOf(images.map(({ src }) => src).filter((src) => src !== above?.images?.[0]?.["src"])),
    "External URL": textOf(one["external_url"]),
    ...Object.fromEntries((one.attributes ?? []).flatMap(({ name, option, options }, index) => [
      [`Attribute ${index + 1} name`, textOf(name)],
      [`Attribute ${index + 1} value(s)`, listOf([options ?? option].flat())]
    ]))
  }
  return new Map(Object.entries(cells).filter(([, cell]) => cell !== ""))
}
