import type { DemoProduct } from "./DemoProduct.ts"

/** Paper and what one writes on it with. */
export const stationery: ReadonlyArray<DemoProduct> = [
  {
    slug: "dotted-notebook-a5",
    sku: "STA-1001",
    brand: "paper-and-pine",
    categories: ["stationery"],
    en: { title: "Dotted Notebook A5", description: "160 dotted pages of 100 g paper, thread-stitched, lies flat." },
    de: { title: "Notizbuch A5, gepunktet", description: "160 gepunktete Seiten, 100-g-Papier, fadengeheftet." },
    prices: [{ usd: 1400, eur: 1290 }, { usd: 1100, eur: 990, minQuantity: 10 }],
    weightGrams: 260,
    stock: 320
  },
  {
    slug: "pocket-notebooks",
    sku: "STA-1002",
    brand: "paper-and-pine",
    categories: ["stationery"],
    en: { title: "Pocket Notebooks, set of 3", description: "Plain, ruled and squared, 48 pages each." },
    de: { title: "Taschenhefte, 3er-Set", description: "Blanko, liniert und kariert, je 48 Seiten." },
    prices: [{ usd: 990, eur: 890 }],
    weightGrams: 120,
    stock: 260
  },
  {
    slug: "brass-fountain-pen",
    sku: "STA-2001",
    brand: "paper-and-pine",
    categories: ["stationery"],
    en: { title: "Brass Fountain Pen", description: "Solid brass that darkens with use; steel nib, medium." },
    de: { title: "Füllhalter aus Messing", description: "Massives Messing, das mit der Zeit nachdunkelt; Feder M." },
    prices: [{ usd: 6800, eur: 6200 }],
    weightGrams: 48,
    stock: 25
  },
  {
    slug: "ink-blue-black",
    sku: "STA-2002",
    brand: "paper-and-pine",
    categories: ["stationery"],
    en: { title: "Ink, Blue-black, 50 ml", description: "Dries in seconds, stays for decades." },
    de: { title: "Tinte, Blauschwarz, 50 ml", description: "Trocknet in Sekunden, bleibt für Jahrzehnte." },
    prices: [{ usd: 1500, eur: 1350 }],
    weightGrams: 160,
    stock: 110
  },
  {
    slug: "desk-calendar",
    sku: "STA-3001",
    brand: "paper-and-pine",
    categories: ["stationery"],
    en: { title: "Desk Calendar", description: "A week to a page on a beech stand; the sheets become postcards." },
    de: { title: "Tischkalender", description: "Eine Woche je Blatt auf Buchenfuß; die Blätter werden Postkarten." },
    prices: [{ usd: 2800, eur: 2600 }],
    weightGrams: 340,
    stock: 70
  },
  {
    slug: "gift-wrap-sheets",
    sku: "STA-3002",
    brand: "paper-and-pine",
    categories: ["stationery"],
    en: { title: "Gift Wrap, 10 sheets", description: "Recycled kraft paper with a pine pattern, 50 by 70 cm." },
    de: { title: "Geschenkpapier, 10 Bögen", description: "Recyceltes Kraftpapier mit Kiefernmuster, 50 mal 70 cm." },
    prices: [{ usd: 1200, eur: 1100 }, { usd: 900, eur: 800, customerGroupId: "wholesale" }],
    weightGrams: 300,
    stock: 200
  }
]
