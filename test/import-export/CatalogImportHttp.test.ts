import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { api, asAdmin, withApp } from "../support/TestApp.ts"
import { aStore, expectRoundTrip, jsonl, type Store, upload, withReasons } from "./ImportFixtures.ts"

const shirt = {
  slug: "shirt",
  type: "product",
  status: "active",
  metadata: { weightGrams: 200 },
  attributes: [{ title: "Shirt", description: "Soft, \"warm\"\nand blue" }, { locale: "de", title: "Hemd" }],
  categories: ["clothes", "summer"],
  brands: ["acme"],
  options: [{ name: "Size", values: ["S", "M"] }],
  variants: [{ sku: "SHIRT-S", options: { Size: "S" } }, { sku: "SHIRT-M", barcode: "123", options: { Size: "M" } }]
}

const categories = jsonl(
  { slug: "clothes", metadata: { title: "Clothes" } },
  { slug: "a-shirts", parent: "clothes", sortOrder: 2 },
  { slug: "summer", parent: "a-shirts", status: "archived" }
)

const ofCategories = "kind=categories&format=jsonl"
const ofBrands = "kind=brands&format=jsonl"

const pathOf = ({ get }: Store, slug: string) =>
  Effect.map(
    get(`catalog/categories/${slug}`),
    (answer) => answer.list("data.path").map((step) => (step as { slug: string }).slug).join("/")
  )

withApp("imports of the catalog", (it) => {
  it.effect("create products with all their parts, and change nothing when the file or its export comes again", () =>
    Effect.gen(function*() {
      const store = yield* aStore
      const file = jsonl(shirt, { slug: "mug", type: "product", attributes: [{ title: "Mug" }] })
      assert.deepStrictEqual(yield* store.send(file), [2, 0, 0, 0])
      const found = yield* store.get("catalog/entities/shirt?include=variants,categories,brands,attributes")
      assert.deepStrictEqual(
        [found.at("data.variants.1.sku"), found.at("data.brands.0.slug"), found.list("data.categories").length],
        ["SHIRT-M", "acme", 2]
      )
      assert.strictEqual((yield* store.get("search?q=hemd")).number("meta.total"), 1)
      const before = yield* store.exported()
      for (
        const [again, format] of [[file, "jsonl"], [before, "jsonl"], [yield* store.exported("catalog", "csv"), "csv"]]
      ) {
        assert.deepStrictEqual(yield* store.send(again ?? "", `format=${format}`), [0, 0, 2, 0])
      }
      assert.strictEqual(yield* store.exported(), before)
    }))

  it.effect("refuse invalid products one by one with their lines", () =>
    Effect.gen(function*() {
      const store = yield* aStore
      yield* store.send(jsonl(shirt))
      const wrong = jsonl(
        { slug: "hat", type: "product" },
        { type: "product" },
        { slug: "x", type: "product", colour: 1 }
      ) + "\nnot json\n" + jsonl({ slug: "hat", taxClass: "no-such" }, { slug: "cap", type: "product" })
      assert.deepStrictEqual(
        yield* store.send(wrong),
        withReasons(
          [2, 0, 0, 4],
          "2: slug slug is required.",
          "3: colour colour is not a known field. Leave it out.",
          "4:  The line is not JSON.",
          "5: taxClass 'no-such' is no tax class of this store. Create it first, or name another one."
        )
      )
    }))

  it.effect("build the tree of categories, move its nodes, and record each change as its route does", () =>
    Effect.gen(function*() {
      const store = yield* aStore
      assert.deepStrictEqual(yield* store.send(categories, ofCategories), [3, 0, 0, 0])
      assert.strictEqual(yield* pathOf(store, "summer"), "clothes/a-shirts/summer")
      assert.deepStrictEqual(yield* store.send(categories, ofCategories), [0, 0, 3, 0])
      const moved = jsonl({ slug: "summer", parent: "clothes", status: "active" }, { slug: "a-shirts", parent: null })
      assert.deepStrictEqual(yield* store.send(moved, ofCategories), [0, 2, 0, 0])
      assert.deepStrictEqual(
        [yield* pathOf(store, "summer"), yield* pathOf(store, "a-shirts")],
        ["clothes/summer", "a-shirts"]
      )
      const id = (yield* store.get("catalog/categories/summer")).text("data.id")
      const audit = yield* store.get(`audit?entityType=category&entityId=${id}`)
      assert.deepStrictEqual(
        audit.list("data").map((entry) => (entry as { event: string }).event).toSorted(),
        ["categories.create", "categories.restore", "categories.update"]
      )
    }))

  it.effect("refuse cycles and unknown parents of categories", () =>
    Effect.gen(function*() {
      const store = yield* aStore
      yield* store.send(categories, ofCategories)
      const before = yield* store.exported("categories")
      const wrong = jsonl(
        { slug: "clothes", parent: "summer" },
        { slug: "clothes", parent: "clothes" },
        { slug: "new", parent: "new" },
        { slug: "new", parent: "nowhere" },
        { slug: "clothes", colour: 1 }
      )
      assert.deepStrictEqual(
        yield* store.send(wrong, ofCategories),
        withReasons(
          [0, 0, 0, 5],
          ...[1, 2, 3].map((line) => `${line}: parent parent must not be the category or one below it.`),
          "4: parent parent names no category, here or before it in the file: 'nowhere'.",
          "5: colour colour is not a known field. Leave it out."
        )
      )
      assert.strictEqual(yield* store.exported("categories"), before)
      // Each of the two is valid alone: only the second closes the cycle that both would be.
      yield* store.send(jsonl({ slug: "x" }, { slug: "y" }), ofCategories)
      const both = jsonl({ slug: "x", parent: "y" }, { slug: "y", parent: "x" })
      assert.deepStrictEqual((yield* store.send(both, ofCategories)).slice(0, 4), [0, 1, 0, 1])
    }))

  it.effect("name tax classes by slug, of their store alone, and keep what goods said before there were any", () =>
    Effect.gen(function*() {
      const [store, other] = [yield* aStore, yield* aStore]
      const product = { slug: "atlas", type: "product" }
      yield* store.send(jsonl(product))
      const { organizationId } = store.as
      // As a process of the version before does.
      yield* onDatabase((sql) =>
        sql`update catalog_entities set tax_class = 'maps' where organization_id = ${organizationId}`
      )
      yield* api("POST", "/api/tax/classes", { as: other.as, body: { name: "Maps & Books", rate: "7" } })
      assert.deepStrictEqual(yield* store.send(yield* store.exported()), [0, 0, 1, 0])
      assert.deepStrictEqual(
        yield* store.send(jsonl({ ...product, taxClass: "maps-books" })),
        withReasons(
          [0, 0, 0, 1],
          "1: taxClass 'maps-books' is no tax class of this store. Create it first, or name another one."
        )
      )
      const maps = yield* api("POST", "/api/tax/classes", { as: store.as, body: { name: "Maps", rate: "7" } })
      assert.deepStrictEqual(yield* store.send(jsonl({ ...product, taxClass: "maps" })), [0, 1, 0, 0])
      assert.deepStrictEqual((yield* store.get("catalog/entities/atlas")).at("data.taxClassId"), maps.at("data.id"))
      yield* api("PATCH", `/api/tax/classes/${maps.text("data.id")}`, { as: store.as, body: { name: "Charts" } })
      assert.include(yield* store.exported(), "\"taxClass\":\"maps\"")
      assert.deepStrictEqual(yield* store.send(yield* store.exported()), [0, 0, 1, 0])
    }))

  it.effect("name brands, and change nothing when the file comes again", () =>
    Effect.gen(function*() {
      const store = yield* aStore
      const file = jsonl({ slug: "acme", displayName: "ACME Inc.", metadata: { since: 1920 } }, { slug: "plain" })
      assert.deepStrictEqual(yield* store.send(file, ofBrands), [2, 0, 0, 0])
      assert.deepStrictEqual(yield* store.send(file, ofBrands), [0, 0, 2, 0])
      const renamed = yield* store.send("slug,displayName\nplain,Plain & Co\n", "kind=brands&format=csv")
      assert.deepStrictEqual(renamed, [0, 1, 0, 0])
      const list = yield* store.get("catalog/brands")
      assert.deepStrictEqual(
        [list.at("data.0.displayName"), list.at("data.1.displayName")],
        ["ACME Inc.", "Plain & Co"]
      )
      const unnamed = yield* store.send(jsonl({ slug: "plain", displayName: "" }), ofBrands)
      assert.deepStrictEqual(unnamed.slice(0, 4), [0, 0, 0, 1])
    }))

  it.effect("give another store the same categories and brands in both formats", () =>
    Effect.gen(function*() {
      const [from, to] = [yield* aStore, yield* aStore]
      yield* from.send(categories, ofCategories)
      yield* from.send(jsonl({ slug: "acme", displayName: "ACME", metadata: { a: 1 } }, { slug: "b" }), ofBrands)
      for (const kind of ["categories", "brands"]) yield* expectRoundTrip(from, to, kind)
    }))

  it.effect("need permissions of the catalog for categories and brands", () =>
    Effect.gen(function*() {
      const as = { ...asAdmin, permissions: ["catalog:read", "customers:create"] }
      for (const kind of ["categories", "brands"]) {
        assert.strictEqual((yield* upload("", { query: `kind=${kind}&format=jsonl`, as })).status, 403)
        assert.strictEqual((yield* api("GET", `/api/exports/${kind}`, { as })).status, 403)
      }
    }))
})
