import type { DemoProduct } from "./DemoProduct.ts"

/** Cups, boards and pans. */
export const kitchen: ReadonlyArray<DemoProduct> = [
  {
    slug: "stoneware-mug",
    sku: "KIT-1001",
    brand: "nordlicht",
    categories: ["kitchen", "coffee"],
    en: { title: "Stoneware Mug", description: "Glazed by hand, 320 ml. No two are quite alike." },
    de: { title: "Steinzeugbecher", description: "Von Hand glasiert, 320 ml. Keiner gleicht dem anderen ganz." },
    prices: [{ usd: 1800, eur: 1650 }, { usd: 1600, eur: 1450, minQuantity: 4 }],
    weightGrams: 380,
    stock: 150
  },
  {
    slug: "espresso-cups-set",
    sku: "KIT-1002",
    brand: "nordlicht",
    categories: ["kitchen", "coffee"],
    en: { title: "Espresso Cups, set of 4", description: "Thick walls that keep 70 ml hot to the last sip." },
    de: {
      title: "Espressotassen, 4er-Set",
      description: "Dicke Wände, die 70 ml bis zum letzten Schluck heiß halten."
    },
    prices: [{ usd: 3600, eur: 3300 }],
    weightGrams: 720,
    stock: 45
  },
  {
    slug: "oak-cutting-board",
    sku: "KIT-2001",
    brand: "paper-and-pine",
    categories: ["kitchen"],
    en: { title: "Oak Cutting Board", description: "One piece of oiled oak, 40 by 25 cm, with a groove." },
    de: { title: "Schneidebrett aus Eiche", description: "Ein Stück geölte Eiche, 40 mal 25 cm, mit Saftrille." },
    prices: [{ usd: 4900, eur: 4500 }],
    weightGrams: 1450,
    stock: 40
  },
  {
    slug: "cast-iron-skillet",
    sku: "KIT-2002",
    brand: "nordlicht",
    categories: ["kitchen"],
    en: {
      title: "Cast-iron Skillet, 26 cm",
      description: "Seasoned with linseed oil, for every hob and the campfire."
    },
    de: { title: "Gusseisenpfanne, 26 cm", description: "Mit Leinöl eingebrannt, für jeden Herd und das Lagerfeuer." },
    prices: [{ usd: 5900, eur: 5400 }],
    weightGrams: 2600,
    stock: 30
  },
  {
    slug: "linen-tea-towels",
    sku: "KIT-3001",
    brand: "nordlicht",
    categories: ["kitchen"],
    en: { title: "Linen Tea Towels, set of 2", description: "Washed linen, 50 by 70 cm, softer with every wash." },
    de: { title: "Geschirrtücher aus Leinen, 2er-Set", description: "Gewaschenes Leinen, 50 mal 70 cm." },
    prices: [{ usd: 2600, eur: 2400 }],
    weightGrams: 210,
    stock: 90
  },
  {
    slug: "salt-cellar",
    sku: "KIT-3002",
    brand: "paper-and-pine",
    categories: ["kitchen"],
    en: { title: "Salt Cellar", description: "Ash wood with a swivelling lid, holds 200 g." },
    de: { title: "Salzfass", description: "Eschenholz mit Schwenkdeckel, fasst 200 g." },
    prices: [{ usd: 2200, eur: 2000 }],
    weightGrams: 240,
    stock: 55
  }
]
