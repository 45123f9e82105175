import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { readExternal } from "stoa/plugin"
import { wooFileRows } from "../../../../test/support/channels/WooFile.ts"
import { wooTests } from "./WooShop.ts"

const test = wooTests()
const mug = (n: number) => ({ name: `Mug ${n}`, sku: `m${n}`, regular_price: "10.00" })
const size = (...options: ReadonlyArray<string>) => [{ name: "Size", options, variation: true }]

describe("the catalog of a WooCommerce", () => {
  test("is read as its file", ({ catalog, shop }) =>
    Effect.gen(function*() {
      const term = (taxonomy: string, name: string, parent = 0) => ({
        id: shop.catalog.addTerm(taxonomy, { name, parent }).id
      })
      const men = term("categories", "Men")
      const made = shop.catalog.create({
        name: "Hoodie, warm",
        slug: "hoodie-warm",
        type: "variable",
        sku: "H",
        global_unique_id: "4006381333931",
        description: "<p>One\nTwo</p>",
        short_description: "A \\n stays",
        tax_class: "reduced-rate",
        weight: "1.5",
        categories: [term("categories", "Décor &amp; Co", men.id), term("categories", "Hats, caps")],
        brands: [term("brands", "Johnson &amp; Sons")],
        tags: [term("tags", "new"), term("tags", "warm, soft")],
        images: [{ src: "https://shop.example/a.jpg" }, { src: "https://shop.example/b,c.jpg" }],
        attributes: [...size("S", "M, wide"), { name: "Care", options: ["Wash"] }]
      })
      const sizes = [{ sku: "H-S", option: "S" }, { sku: "", option: "M, wide" }].map(({ option, sku }) => ({
        sku,
        regular_price: "40.00",
        sale_price: "35.50",
        date_on_sale_from_gmt: "2026-11-30T23:00:00",
        tax_class: "parent",
        manage_stock: sku !== "",
        stock_quantity: 3,
        low_stock_amount: 1,
        attributes: [{ name: "Size", option }]
      }))
      for (const one of sizes) shop.catalog.create(one, made.id)
      const shared = shop.catalog.create({ ...mug(1), type: "variable", manage_stock: true, stock_quantity: 5 })
      shop.catalog.create({ regular_price: "9.00", image: { src: "https://shop.example/s.jpg" } }, shared.id)
      const others = [
        { ...mug(2), slug: "", name: "Мёд", status: "draft", stock_status: "outofstock", tax_status: "none" },
        { ...mug(3), status: "private", backorders: "notify", manage_stock: true, stock_quantity: -2, virtual: true },
        { ...mug(4), stock_status: "onbackorder", catalog_visibility: "hidden", downloadable: true, slug: "%d0%bc" },
        { ...mug(5), type: "external", external_url: "https://books.example/1", status: "pending" }
      ].map((one) => shop.catalog.create(one))
      const { items } = yield* catalog.page(null, 100)
      assert.deepStrictEqual(
        items.map(({ externalId }) => externalId),
        [made, shared, ...others].map(({ id }) => `${id}`)
      )
      assert.deepStrictEqual(items.map(({ slug }) => slug), ["hoodie-warm", "mug-1", "мёд", "mug-3", "м", "mug-5"])
      for (const { draft, externalId, slug } of items) {
        const [row, ...rows] = wooFileRows(shop.catalog, Number(externalId), "lbs")
        assert.deepStrictEqual(
          draft,
          readExternal("woocommerce", [new Map([...row ?? [], ["Slug", slug]]), ...rows], slug)
        )
      }
      assert.deepStrictEqual(
        [...items[0]?.unitIds ?? []],
        shop.catalog.variationsOf(made.id).map(({ id }) => `${made.id}/${id}`)
      )
      assert.strictEqual(yield* catalog.currency, "CHF")
      assert.deepStrictEqual([items[2], items[3]].map((one) => one?.draft.product["status"]), ["draft", "draft"])
      assert.include(JSON.stringify(items[0]?.draft.product["attributes"]), "One\\nTwo")
    }), { currency: "CHF", weightUnit: "lbs" })

  test("has no trash, no groups and nothing that is not sold, and finds the product of a variation", ({ catalog, shop }) =>
    Effect.gen(function*() {
      const [trash, gone] = [shop.catalog.create(mug(1)), shop.catalog.create(mug(2))]
      shop.catalog.remove(trash.id, false)
      const group = shop.catalog.create({ name: "Set", type: "grouped", grouped_products: [gone.id] })
      const empty = shop.catalog.create({ name: "Shirt", type: "variable", attributes: size("S") })
      shop.catalog.remove(gone.id, true)
      for (const { id } of [trash, gone, group, empty]) assert.isUndefined(yield* catalog.product(`${id}`))
      assert.deepStrictEqual(yield* catalog.page(null, 10), { items: [], nextCursor: null })
      const variation = shop.catalog.create({ regular_price: "1.00" }, empty.id)
      assert.strictEqual((yield* catalog.product(`${variation.id}`))?.externalId, `${empty.id}`)
    }))

  test("has disabled variations as sold out", ({ catalog, shop }) =>
    Effect.gen(function*() {
      const shirt = shop.catalog.create({ name: "Shirt", type: "variable", attributes: size("S", "M") })
      for (const [status, option] of [["publish", "S"], ["private", "M"]]) {
        shop.catalog.create({ status, backorders: "yes", attributes: [{ name: "Size", option }] }, shirt.id)
      }
      const sold = (yield* catalog.product(`${shirt.id}`))?.draft.sold
      assert.deepStrictEqual(sold?.map(({ stock, variant }) => [stock["onHand"], variant["allowBackorder"]]), [
        ["", true],
        [0, false]
      ])
    }))

  test("leaves nothing out of its pages while products come and go", ({ catalog, shop }) =>
    Effect.gen(function*() {
      const ids = Array.from({ length: 12 }, (_, n) => shop.catalog.create(mug(n)).id)
      shop.catalog.remove(ids[2] ?? 0, false)
      const seen: Array<number> = []
      let cursor: string | null = null
      do {
        const page: Effect.Success<ReturnType<typeof catalog.page>> = yield* catalog.page(cursor, 3)
        seen.push(...page.items.map(({ externalId }) => Number(externalId)))
        cursor = page.nextCursor
        if (seen.length === 3) { for (const id of ids.slice(0, 4)) shop.catalog.remove(id, true) }
        if (seen.length === 6) shop.catalog.create(mug(20))
        if (seen.length === 9) shop.catalog.remove(ids[5] ?? 0, true)
      } while (cursor !== null)
      assert.deepStrictEqual(seen, [...ids.filter((_, n) => n !== 2), ...[...shop.catalog.products.keys()].slice(-1)])
    }))

  test("goes on behind products that WordPress cannot show", ({ catalog, shop }) =>
    Effect.gen(function*() {
      const ids = Array.from({ length: 150 }, (_, n) => shop.catalog.create(mug(n)).id)
      for (const id of ids.slice(10, 130)) shop.catalog.broken.add(id)
      const first = yield* catalog.page(null, 100)
      const second = yield* catalog.page(first.nextCursor, 100)
      assert.deepStrictEqual([first.items.length, second.items.length, second.nextCursor], [10, 20, null])
    }))
})
