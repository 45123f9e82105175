import { clothing } from "./Clothing.ts"
import { coffee } from "./Coffee.ts"
import type { DemoProduct } from "./DemoProduct.ts"
import { kitchen } from "./Kitchen.ts"
import { stationery } from "./Stationery.ts"

/** Who makes the demo store's products. */
export const brands = [
  { slug: "harbor-roasters", displayName: "Harbor Roasters" },
  { slug: "nordlicht", displayName: "Nordlicht" },
  { slug: "paper-and-pine", displayName: "Paper & Pine" }
] as const

/** The shelves of the demo store, in their order; clients find a category's title in its metadata. */
export const categories = [
  { slug: "coffee", titles: { en: "Coffee", de: "Kaffee" } },
  { slug: "kitchen", titles: { en: "Kitchen", de: "Küche" } },
  { slug: "stationery", titles: { en: "Stationery", de: "Schreibwaren" } },
  { slug: "clothing", titles: { en: "Clothing", de: "Kleidung" } }
] as const

/** Every product; the first one is shown first in a list, which begins with the newest. */
export const products: ReadonlyArray<DemoProduct> = [...coffee, ...kitchen, ...stationery, ...clothing]
