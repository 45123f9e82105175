import { Schema, Struct } from "effect"
import { reading } from "./WooRequests.ts"

const Text = Schema.String
const Terms = Schema.Array(Schema.Struct({ id: Schema.Int }))
export const statuses = ["publish", "draft", "pending", "private", "future"] as const
export const types = ["simple", "grouped", "external", "variable"] as const
export const Meta = Schema.Struct({ key: Text, value: Schema.Unknown })
const Image = Schema.Struct({ src: Text, alt: Schema.optionalKey(Text), name: Schema.optionalKey(Text) })

const Fields = Schema.Struct({
  name: Text,
  slug: Text,
  type: Schema.Literals([...types, "variation"]),
  status: Schema.Literals(statuses),
  catalog_visibility: Schema.Literals(["visible", "catalog", "search", "hidden"]),
  virtual: Schema.Boolean,
  downloadable: Schema.Boolean,
  description: Text,
  short_description: Text,
  sku: Text,
  global_unique_id: Text,
  regular_price: Text,
  sale_price: Text,
  date_on_sale_from_gmt: Schema.NullOr(Text),
  date_on_sale_to_gmt: Schema.NullOr(Text),
  tax_status: Schema.Literals(["taxable", "shipping", "none"]),
  tax_class: Text,
  manage_stock: Schema.Boolean,
  stock_quantity: Schema.NullOr(Schema.Int),
  stock_status: Schema.Literals(["instock", "outofstock", "onbackorder"]),
  backorders: Schema.Literals(["no", "notify", "yes"]),
  low_stock_amount: Schema.NullOr(Schema.Int),
  weight: Text,
  external_url: Text,
  button_text: Text,
  grouped_products: Schema.Array(Schema.Int),
  categories: Terms,
  brands: Terms,
  tags: Terms,
  images: Schema.Array(Image),
  image: Schema.NullOr(Image),
  attributes: Schema.Array(Schema.Struct({
    id: Schema.optionalKey(Schema.Int),
    name: Schema.optionalKey(Text),
    option: Schema.optionalKey(Text),
    options: Schema.optionalKey(Schema.Array(Text)),
    visible: Schema.optionalKey(Schema.Boolean),
    variation: Schema.optionalKey(Schema.Boolean)
  })),
  meta_data: Schema.Array(Meta)
})
export type Fields = typeof Fields.Type

/** Fields of a product that a request or a test sets. */
export type ProductInput = Partial<Fields>
export const readInput = reading(Fields.mapFields(Struct.map(Schema.optionalKey)))

/** A product before anything of it is set. */
export const blank: Fields = {
  name: "",
  slug: "",
  type: "simple",
  status: "publish",
  catalog_visibility: "visible",
  virtual: false,
  downloadable: false,
  description: "",
  short_description: "",
  sku: "",
  global_unique_id: "",
  regular_price: "",
  sale_price: "",
  date_on_sale_from_gmt: null,
  date_on_sale_to_gmt: null,
  tax_status: "taxable",
  tax_class: "",
  manage_stock: false,
  stock_quantity: null,
  stock_status: "instock",
  backorders: "no",
  low_stock_amount: null,
  weight: "",
  external_url: "",
  button_text: "",
  grouped_products: [],
  categories: [],
  brands: [],
  tags: [],
  images: [],
  image: null,
  attributes: [],
  meta_data: []
}
