import { Schema } from "effect"
import type { NewPromotion } from "../../../domain/promotions/Promotion.ts"
import stored from "./products.json" with { type: "json" }

const Words = Schema.Struct({ title: Schema.String, description: Schema.String })

/** Minor units; a price from a quantity on, or for one customer group. */
const Price = Schema.Struct({
  usd: Schema.Int,
  eur: Schema.Int,
  minQuantity: Schema.optionalKey(Schema.Int),
  customerGroupId: Schema.optionalKey(Schema.String)
})

/** A product of the demo store. With options, every combination of their values is a variant with `stock` units. */
const DemoProduct = Schema.Struct({
  slug: Schema.String,
  sku: Schema.String,
  brand: Schema.String,
  categories: Schema.NonEmptyArray(Schema.String),
  en: Words,
  de: Words,
  /** The price for everyone, then those for quantities and groups. */
  prices: Schema.NonEmptyArray(Price),
  weightGrams: Schema.Int,
  stock: Schema.Int,
  options: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.String, values: Schema.Array(Schema.String) })))
})
export type DemoProduct = typeof DemoProduct.Type

/** All products; lists show the newest first, which is the first of these. */
export const products = Schema.decodeUnknownSync(Schema.Array(DemoProduct))(stored)

/** Makers of the products. */
export const brands = [
  { slug: "harbor-roasters", displayName: "Harbor Roasters" },
  { slug: "nordlicht", displayName: "Nordlicht" },
  { slug: "paper-and-pine", displayName: "Paper & Pine" }
] as const

/** Categories in their order; clients find the title in the metadata. */
export const categories = [
  { slug: "coffee", titles: { en: "Coffee", de: "Kaffee" } },
  { slug: "kitchen", titles: { en: "Kitchen", de: "Küche" } },
  { slug: "stationery", titles: { en: "Stationery", de: "Schreibwaren" } },
  { slug: "clothing", titles: { en: "Clothing", de: "Kleidung" } }
] as const

/** A code for new customers, and free shipping from 50.00 on without a code. */
export const promotions: ReadonlyArray<NewPromotion> = [
  { code: "WELCOME10", name: "Ten per cent for newcomers", type: "percentage_off_order", value: 10 },
  {
    name: "Free shipping from 50.00",
    type: "free_shipping",
    value: 0,
    isAutomatic: true,
    conditions: { minimumOrderValue: 5000 }
  }
]
