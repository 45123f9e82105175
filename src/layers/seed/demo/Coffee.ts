import type { DemoProduct } from "./DemoProduct.ts"

/** Beans and what one brews them with. */
export const coffee: ReadonlyArray<DemoProduct> = [
  {
    slug: "harbor-house-blend",
    sku: "COF-1001",
    brand: "harbor-roasters",
    categories: ["coffee"],
    en: {
      title: "Harbor House Blend, 1 kg",
      description: "Chocolate, hazelnut and a little orange. Roasted every Tuesday, good for filter and espresso."
    },
    de: {
      title: "Harbor Hausmischung, 1 kg",
      description: "Schokolade, Haselnuss und etwas Orange. Jeden Dienstag geröstet, für Filter und Espresso."
    },
    prices: [
      { usd: 2490, eur: 2290 },
      { usd: 2190, eur: 1990, minQuantity: 6 },
      { usd: 1890, eur: 1690, customerGroupId: "wholesale" }
    ],
    weightGrams: 1020,
    stock: 240
  },
  {
    slug: "sidamo-washed",
    sku: "COF-1002",
    brand: "harbor-roasters",
    categories: ["coffee"],
    en: { title: "Sidamo, washed, 250 g", description: "Ethiopian single origin: jasmine, bergamot and peach." },
    de: { title: "Sidamo, gewaschen, 250 g", description: "Äthiopien, eine Herkunft: Jasmin, Bergamotte, Pfirsich." },
    prices: [{ usd: 1250, eur: 1150 }],
    weightGrams: 265,
    stock: 120
  },
  {
    slug: "decaf-mountain",
    sku: "COF-1003",
    brand: "harbor-roasters",
    categories: ["coffee"],
    en: { title: "Mountain Decaf, 250 g", description: "Decaffeinated with spring water. Caramel and red apple." },
    de: { title: "Berg entkoffeiniert, 250 g", description: "Mit Quellwasser entkoffeiniert. Karamell, roter Apfel." },
    prices: [{ usd: 1190, eur: 1090 }],
    weightGrams: 265,
    stock: 80
  },
  {
    slug: "pour-over-dripper",
    sku: "COF-2001",
    brand: "nordlicht",
    categories: ["coffee", "kitchen"],
    en: { title: "Pour-over Dripper", description: "Porcelain dripper for one or two cups, with spiral ribs." },
    de: { title: "Handfilter", description: "Handfilter aus Porzellan für ein bis zwei Tassen, mit Spiralrippen." },
    prices: [{ usd: 2400, eur: 2200 }],
    weightGrams: 430,
    stock: 60
  },
  {
    slug: "paper-filters-100",
    sku: "COF-2002",
    brand: "nordlicht",
    categories: ["coffee"],
    en: { title: "Paper Filters, 100 pieces", description: "Unbleached cone filters, size 02." },
    de: { title: "Papierfilter, 100 Stück", description: "Ungebleichte Kegelfilter, Größe 02." },
    prices: [{ usd: 690, eur: 590 }, { usd: 590, eur: 490, minQuantity: 10 }],
    weightGrams: 150,
    stock: 500
  },
  {
    slug: "hand-grinder",
    sku: "COF-2003",
    brand: "nordlicht",
    categories: ["coffee", "kitchen"],
    en: { title: "Hand Grinder", description: "Steel burrs, 38 settings, enough for two cups in under a minute." },
    de: { title: "Handmühle", description: "Mahlwerk aus Stahl, 38 Stufen, zwei Tassen in weniger als einer Minute." },
    prices: [{ usd: 8900, eur: 8200 }],
    weightGrams: 620,
    stock: 35
  }
]
