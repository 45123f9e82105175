import type { DemoProduct } from "./DemoProduct.ts"

/** What one wears at the counter and after work. */
export const clothing: ReadonlyArray<DemoProduct> = [
  {
    slug: "everyday-tee",
    sku: "CLO-1001",
    brand: "nordlicht",
    categories: ["clothing"],
    en: { title: "Everyday Tee", description: "Heavy organic cotton, cut straight. In four sizes and three colors." },
    de: { title: "Alltagsshirt", description: "Schwere Biobaumwolle, gerader Schnitt. Vier Größen, drei Farben." },
    prices: [{ usd: 3200, eur: 2900 }, { usd: 2700, eur: 2400, minQuantity: 5 }],
    weightGrams: 220,
    stock: 24,
    options: [{ name: "size", values: ["S", "M", "L", "XL"] }, { name: "color", values: ["sand", "ink", "moss"] }]
  },
  {
    slug: "barista-apron",
    sku: "CLO-1002",
    brand: "harbor-roasters",
    categories: ["clothing", "kitchen"],
    en: { title: "Barista Apron", description: "Waxed canvas with leather straps and a pocket for the towel." },
    de: { title: "Barista-Schürze", description: "Gewachstes Segeltuch, Lederriemen, Tasche für das Tuch." },
    prices: [{ usd: 6400, eur: 5900 }],
    weightGrams: 540,
    stock: 28
  },
  {
    slug: "wool-beanie",
    sku: "CLO-2001",
    brand: "nordlicht",
    categories: ["clothing"],
    en: { title: "Wool Beanie", description: "Merino from one farm, knitted double. One size." },
    de: { title: "Wollmütze", description: "Merino von einem Hof, doppelt gestrickt. Einheitsgröße." },
    prices: [{ usd: 2900, eur: 2700 }],
    weightGrams: 95,
    stock: 75
  },
  {
    slug: "hiking-socks",
    sku: "CLO-2002",
    brand: "nordlicht",
    categories: ["clothing"],
    en: { title: "Hiking Socks", description: "Wool with terry soles; guaranteed for five winters." },
    de: { title: "Wandersocken", description: "Wolle mit Frotteesohle; fünf Winter Garantie." },
    prices: [{ usd: 1900, eur: 1750 }, { usd: 1600, eur: 1450, minQuantity: 3 }],
    weightGrams: 110,
    stock: 140
  },
  {
    slug: "canvas-tote",
    sku: "CLO-3001",
    brand: "paper-and-pine",
    categories: ["clothing", "stationery"],
    en: { title: "Canvas Tote", description: "Holds two loaves and a notebook. Natural canvas, long handles." },
    de: { title: "Stofftasche", description: "Fasst zwei Brote und ein Notizbuch. Naturfarben, lange Henkel." },
    prices: [{ usd: 1700, eur: 1550 }],
    weightGrams: 180,
    stock: 180
  },
  {
    slug: "rain-poncho",
    sku: "CLO-3002",
    brand: "nordlicht",
    categories: ["clothing"],
    en: { title: "Rain Poncho", description: "Packs to the size of an apple, keeps a backpack dry too." },
    de: { title: "Regenponcho", description: "So klein wie ein Apfel gepackt, hält auch den Rucksack trocken." },
    prices: [{ usd: 5400, eur: 4950 }],
    weightGrams: 310,
    stock: 0
  }
]
