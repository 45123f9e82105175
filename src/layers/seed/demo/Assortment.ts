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

/** With options, every combination is a variant with `stock` units. */
const DemoProduct = Schema.Struct({
  slug: Schema.String,
  sku: Schema.String,
  brand: Schema.String,
  categories: Schema.NonEmptyArray(Schema.String),
  en: Words,
  de: Words,
  prices: Schema.NonEmptyArray(Price),
  weightGrams: Schema.Int,
  stock: Schema.Int,
  options: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.String, values: Schema.Array(Schema.String) })))
})
export type DemoProduct = typeof DemoProduct.Type

export const products = Schema.decodeUnknownSync(Schema.Array(DemoProduct))(stored)

export const brands = [
  { slug: "harbor-roasters", displayName: "Harbor Roasters" },
  { slug: "nordlicht", displayName: "Nordlicht" },
  { slug: "paper-and-pine", displayName: "Paper & Pine" }
] as const

/** Clients find the title in the metadata. */
export const categories = [
  { slug: "coffee", titles: { en: "Coffee", de: "Kaffee" } },
  { slug: "kitchen", titles: { en: "Kitchen", de: "Küche" } },
  { slug: "stationery", titles: { en: "Stationery", de: "Schreibwaren" } },
  { slug: "clothing", titles: { en: "Clothing", de: "Kleidung" } }
] as const

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
