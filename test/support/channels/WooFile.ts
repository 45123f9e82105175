import type { WooCatalog, WooProduct } from "./WooCatalog.ts"

const cell = (values: ReadonlyArray<string>) => values.map((one) => one.replaceAll(",", "\\,")).join(", ")
const flag = (value: boolean) => value ? "1" : "0"
/** A line end of a description is written as `\n`. */
const lines = (text: string) => text.replaceAll("\\n", "\\\\n").replaceAll("\n", "\\n")
const published = { publish: "1", private: "0", draft: "-1", pending: "2", future: "-1" }
const inStock = { instock: "1", outofstock: "0", onbackorder: "backorder" }

/** A product or variation in the columns of the product export of the emulated WooCommerce, which has a UTC clock. */
const rowOf = (catalog: WooCatalog, { fields, id, parent }: WooProduct, weightUnit: string) => {
  const terms = (taxonomy: "categories" | "brands" | "tags") =>
    (catalog.terms.get(taxonomy) ?? []).filter((one) => fields[taxonomy].some((chosen) => chosen.id === one.id))
  const path = (taxonomy: string, term: number): string => {
    const one = catalog.terms.get(taxonomy)?.find((other) => other.id === term)
    return one === undefined ? "" : one.parent === 0 ? one.name : `${path(taxonomy, one.parent)} > ${one.name}`
  }
  const shared = parent > 0 && !fields.manage_stock && catalog.get(parent).fields.manage_stock
  const columns: Record<string, string> = {
    "ID": String(id),
    "Type": [fields.type, ...fields.downloadable ? ["downloadable"] : [], ...fields.virtual ? ["virtual"] : []].join(
      ", "
    ),
    "SKU": fields.sku,
    "GTIN, UPC, EAN, or ISBN": fields.global_unique_id,
    "Name": fields.name,
    "Slug": fields.slug,
    "Published": published[fields.status],
    "Visibility in catalog": fields.catalog_visibility,
    "Short description": lines(fields.short_description),
    "Description": lines(fields.description),
    "Date sale price starts": fields.date_on_sale_from_gmt === null ? "" : `${fields.date_on_sale_from_gmt}+00:00`,
    "Date sale price ends": fields.date_on_sale_to_gmt === null ? "" : `${fields.date_on_sale_to_gmt}+00:00`,
    "Tax status": fields.tax_status,
    "Tax class": fields.tax_class,
    "In stock?": inStock[fields.stock_status],
    "Stock": shared ? "parent" : fields.manage_stock ? String(fields.stock_quantity) : "",
    "Low stock amount": fields.manage_stock ? String(fields.low_stock_amount ?? "") : "",
    "Backorders allowed?": fields.backorders === "notify" ? "notify" : flag(fields.backorders === "yes"),
    [`Weight (${weightUnit})`]: fields.weight,
    "Sale price": fields.sale_price,
    "Regular price": fields.regular_price,
    "Categories": cell(terms("categories").map((one) => path("categories", one.id))),
    "Tags": cell(terms("tags").map(({ name }) => name)),
    "Brands": cell(terms("brands").map(({ name }) => name)),
    "Images": cell((parent > 0 ? fields.image === null ? [] : [fields.image] : fields.images).map(({ src }) => src)),
    "Parent": parent > 0 ? `id:${parent}` : "",
    "External URL": fields.external_url,
    ...Object.fromEntries(fields.attributes.flatMap(({ name = "", option = "", options }, index) => [
      [`Attribute ${index + 1} name`, name],
      [`Attribute ${index + 1} value(s)`, cell(options ?? [option])]
    ]))
  }
  return new Map(Object.entries(columns).filter(([, text]) => text !== ""))
}

/** The rows of a product with its variations. */
export const wooFileRows = (catalog: WooCatalog, id: number, weightUnit: string) =>
  [catalog.get(id), ...catalog.variationsOf(id)].map((one) => rowOf(catalog, one, weightUnit))
