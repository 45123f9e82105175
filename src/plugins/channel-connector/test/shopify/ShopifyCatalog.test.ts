import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { type Outbound, readExternal } from "stoa/plugin"
import { fileRows } from "../../../../../src/workflows/import-export/FileRows.ts"
import { addMug, catalogOf, given, storeTest } from "./ShopifyStore.ts"

const file =
  `Handle,Title,Body (HTML),Vendor,Product Category,Type,Tags,Published,Option1 Name,Option1 Value,Option2 Name,
Option2 Value,Variant SKU,Variant Grams,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy,Variant Price,
Variant Compare At Price,Variant Barcode,Image Src,Image Position,Image Alt Text,Gift Card,SEO Title,SEO Description,
Variant Image,Cost per item,Status`.replaceAll("\n", "") + `
shirt,Shirt,<p>Soft &amp; light</p>,Acme,Apparel > Shirts,Shirt,"new, summer",true,Size,S,Colour,Red,S-R,200.0,shopify,4,deny,19.90,25.00,4006381333931,https://cdn.example/1.png,1,Front,false,A shirt,Buy it,https://cdn.example/1.png,7.25,active
shirt,,,,,,,,,M,,Red,M-R,250.0,,0,continue,21.00,,,https://cdn.example/2.png,2,,,,,,,
`

const addShirt = (shop: Parameters<typeof addMug>[0]) =>
  shop.catalog.add({
    title: "Shirt",
    descriptionHtml: "<p>Soft &amp; light</p>",
    vendor: "Acme",
    category: "Apparel > Shirts",
    productType: "Shirt",
    tags: ["new", "summer"],
    seo: { title: "A shirt", description: "Buy it" },
    options: [{ name: "Size", values: ["S", "M"] }, { name: "Colour", values: ["Red"] }],
    images: [{ url: "https://cdn.example/1.png", alt: "Front" }, "https://cdn.example/2.png"],
    variants: [
      {
        options: ["S", "Red"],
        sku: "S-R",
        price: 1_990,
        compareAt: 2_500,
        unitCost: 725,
        stock: 4,
        barcode: "4006381333931",
        weight: { value: 0.2, unit: "KILOGRAMS" },
        image: "https://cdn.example/1.png"
      },
      {
        options: ["M", "Red"],
        sku: "M-R",
        price: 2_100,
        oversells: true,
        weight: { value: 250, unit: "GRAMS" }
      }
    ]
  })

/** Products of a file by their keys. */
const readFile = async (text: string) => {
  const found = new Map<string, Array<ReadonlyMap<string, string>>>()
  async function* once() {
    yield text
  }
  for await (const { record } of fileRows(once(), { kind: "catalog", format: "shopify" }, { bytes: 0 })) {
    const { key, rows } = JSON.parse(JSON.stringify(record))
    for (const row of rows) found.set(key, [...found.get(key) ?? [], new Map(Object.entries<string>(row))])
  }
  return [...found].map(([key, rows]) => readExternal("shopify", rows, key))
}

/** A grouped bulk file of products with two variants, and how many bytes of it were read. */
const fileOf = (products: number) => {
  const parts = Array.from({ length: products }, (_, index) => {
    const id = `gid://shopify/Product/${index + 1}`
    const variant = (n: number) => ({
      id: `gid://shopify/ProductVariant/${index + 1}${n}`,
      price: "1.00",
      __parentId: id
    })
    const lines = [{ id, handle: `p-${index + 1}`, title: "ö", publishedAt: null }, variant(1), variant(2)]
    return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
  })
  const whole = Buffer.concat(parts)
  const read = { bytes: 0, of: whole.length }
  const stream = (from: number): Stream.Stream<Uint8Array> =>
    Stream.range(0, Math.ceil((whole.length - from) / 500)).pipe(
      Stream.rechunk(1),
      Stream.map((n) => whole.subarray(from + n * 500, from + n * 500 + 500)),
      Stream.tap(({ length }) => Effect.sync(() => void (read.bytes += length)))
    )
  return { read, stream }
}

describe("the catalog of a Shopify store", () => {
  storeTest("has products as their product file has them", ({ channel, shop }) =>
    Effect.gen(function*() {
      const { id, variants } = addShirt(shop)
      const [[found] = []] = yield* catalogOf(channel, 10)
      const [draft] = yield* Effect.promise(() => readFile(file))
      assert.deepStrictEqual<unknown>(found, {
        externalId: String(id),
        slug: "shirt",
        draft,
        unitIds: variants.map((one) => String(one.id))
      })
      assert.deepStrictEqual(yield* given(channel.catalog).product(String(id)), found)
      assert.lengthOf(found?.draft.sold ?? [], 2)
      assert.deepInclude(found?.draft.sold[1]?.variant, { manageInventory: false, allowBackorder: true })
      shop.catalog.change(shop.catalog.products.get(id) ?? assert.fail(), { published: false, status: "DRAFT" })
      const hidden = yield* given(channel.catalog).product(String(id))
      assert.deepInclude(hidden?.draft.product, { isVisible: false, status: "draft" })
    }))

  storeTest("has all variants and pictures of a large product", ({ channel, shop }) =>
    Effect.gen(function*() {
      const values = Array.from({ length: 45 }, (_, n) => `Size ${n}`)
      const { id } = shop.catalog.add({
        title: "Many",
        options: [{ name: "Size", values }],
        images: values.slice(0, 25).map((name) => `https://cdn.example/${name}.png`),
        variants: values.map((name) => ({ options: [name], price: 100, image: `https://cdn.example/${name}.png` }))
      })
      const [[bulk] = []] = yield* catalogOf(channel, 1)
      const whole = yield* given(channel.catalog).product(String(id))
      assert.deepStrictEqual(whole, bulk)
      assert.deepStrictEqual([whole?.unitIds.length, whole?.draft.product["metadata"]], [45, {
        images: values.slice(0, 25).map((name) => ({ src: `https://cdn.example/${name}.png` }))
      }])
    }))

  storeTest(
    "is collected once for callers that begin together and wait",
    ({ channel, shop }) =>
      Effect.gen(function*() {
        addMug(shop)
        shop.bulk.pollsUntilDone = 2
        const { page } = given(channel.catalog)
        const { items, nextCursor } = yield* page(null, 10)
        assert.deepStrictEqual([items, (yield* page(null, 10)).nextCursor], [[], nextCursor])
        const waiting = yield* Effect.flip(page(nextCursor, 10))
        assert.deepInclude(waiting, { _tag: "ChannelUnavailable", retryAfterMs: 5_000 })
        assert.lengthOf((yield* page(nextCursor, 10)).items, 1)
      })
  )

  storeTest("of 5,000 products comes in pages of the file", ({ channel, shop }) =>
    Effect.gen(function*() {
      for (let n = 0; n < 5_000; n++) shop.catalog.add({ title: `Mug ${n}`, variants: [{ price: 100, stock: 1 }] })
      const pages = yield* catalogOf(channel, 500)
      assert.deepStrictEqual(pages.map(({ length }) => length), Array(10).fill(500))
      assert.deepStrictEqual(
        pages.flat().map(({ slug }) => slug),
        Array.from({ length: 5_000 }, (_, n) => `mug-${n}`)
      )
      assert.isTrue(pages.flat().every(({ draft, unitIds }) => draft.sold.length === 1 && unitIds.length === 1))
      const ranges = shop.calls.flatMap(({ headers: { range } }) => range ?? [])
      assert.strictEqual(new Set(ranges).size, 10)
    }))

  storeTest("is read no further than the page", ({ connect, http, shop }) =>
    Effect.gen(function*() {
      addMug(shop)
      for (const knowsRanges of [true, false]) {
        const { read, stream } = fileOf(10_000)
        const calls: Outbound = {
          ...http,
          stream: ({ headers: { range = "" } = {} }) => {
            const from = Number(/\d+/.exec(range)?.[0])
            return Effect.succeed(
              knowsRanges
                ? { status: 206, headers: {}, body: stream(from) }
                : { status: 200, headers: {}, body: stream(0) }
            )
          }
        }
        const { page } = given((yield* connect({ accessToken: shop.tokens.permanent }, { calls })).catalog)
        let cursor = (yield* page(null, 50)).nextCursor
        for (const first of [1, 51, 101]) {
          const { items, nextCursor } = yield* page(cursor, 50)
          assert.deepStrictEqual(items.map(({ slug }) => slug), Array.from({ length: 50 }, (_, n) => `p-${first + n}`))
          assert.isTrue(items.every(({ unitIds }) => unitIds.length === 2))
          cursor = nextCursor
        }
        assert.isBelow(read.bytes / read.of, 0.05)
      }
    }))
})
