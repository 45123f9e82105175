import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { api, withApp } from "../support/TestApp.ts"
import { aStore, withReasons } from "./ImportFixtures.ts"

const query = "format=woocommerce&currency=EUR&pictures=false"

const head =
  "ID,Type,SKU,\"GTIN, UPC, EAN, or ISBN\",Name,Published,Is featured?,Visibility in catalog,Description,Tax status,In stock?,Stock," +
  "Low stock amount,Backorders allowed?,Sale price,Regular price,Categories,Images,Parent,Grouped products,External URL," +
  "Brands,Attribute 1 name,Attribute 1 value(s),Attribute 2 name,Attribute 2 value(s)"

const rowOf = (cells: Readonly<Record<string, string>>) => {
  const names = head.match(/"[^"]*"|[^,]+/g) ?? []
  return names.map((name) => `"${(cells[name.replaceAll("\"", "")] ?? "").replaceAll("\"", "\"\"")}"`).join(",")
}

const fileOf = (...rows: ReadonlyArray<Readonly<Record<string, string>>>) =>
  [head, ...rows.map((row) => rowOf({ Published: "1", "Visibility in catalog": "visible", ...row }))].join("\n")

const file = fileOf(
  {
    "ID": "9",
    "Type": "variation",
    "SKU": "H-L",
    "Parent": "HOOD",
    "In stock?": "1",
    "Regular price": "36",
    "Attribute 1 name": "Size",
    "Attribute 1 value(s)": "L"
  },
  {
    "ID": "1",
    "Type": "variable",
    "SKU": "HOOD",
    "Name": "Hoodie",
    "Categories": "Men > Décor &amp; Co, Women > Décor &amp; Co, Hats\\, caps",
    "Brands": "Johnson & Sons",
    "Attribute 1 name": "Size",
    "Attribute 1 value(s)": "S, M, L",
    "Attribute 2 name": "Care",
    "Attribute 2 value(s)": "Wash"
  },
  {
    "ID": "2",
    "Type": "simple",
    "SKU": "CAP",
    "Name": "Cap",
    "In stock?": "1",
    "Backorders allowed?": "notify",
    "Stock": "7",
    "Low stock amount": "3",
    "Regular price": "12,50"
  },
  {
    "ID": "3",
    "Type": "variation",
    "SKU": "H-S",
    "Parent": "id:1",
    "Stock": "3",
    "In stock?": "1",
    "Sale price": "30",
    "Regular price": "35.5",
    "Attribute 1 name": "Size",
    "Attribute 1 value(s)": "S"
  },
  { "ID": "4", "Type": "simple", "Name": "Мёд 蜂蜜", "In stock?": "0", "Regular price": "5" },
  { "ID": "5", "Type": "simple, virtual", "Name": "🎁", "In stock?": "1", "Regular price": "5" },
  { "ID": "6", "Type": "grouped", "Name": "Set", "Grouped products": "CAP, HOOD" },
  { "ID": "7", "Type": "external", "Name": "Book", "External URL": "https://books.example/1", "Regular price": "9" },
  { "ID": "8", "Type": "simple", "Name": "cap", "In stock?": "backorder", "Regular price": "1" },
  { "ID": "10", "Type": "simple", "Name": "Free", "Tax status": "none", "Stock": "1", "Regular price": "1" }
)

withApp("product exports of WooCommerce", (it) => {
  it.effect("keep trees and names, uncounted goods and back-orders, and report what is not sold here", () =>
    Effect.gen(function*() {
      const store = yield* aStore
      assert.deepStrictEqual(yield* store.send(file, query), [8, 0, 0, 0])
      const imports = yield* store.get("imports?limit=1")
      assert.deepStrictEqual([imports.number("data.0.rows"), imports.number("data.0.warned")], [8, 3])
      const warned = yield* api("GET", `/api/imports/${imports.text("data.0.id")}/warnings`, { as: store.as })
      assert.deepStrictEqual([0, 1, 2].map((n) => warned.at(`data.${n}.key`)), ["set", "book", "free"])
      const hoodie = yield* store.get("catalog/entities/hoodie?include=variants,categories,brands,optionTypes,pricing")
      assert.strictEqual(hoodie.at("data.brands.0.displayName"), "Johnson & Sons")
      const categories = yield* store.get("catalog/categories")
      const tree = categories.list("data").map((_, n) => {
        const at = (name: string) => categories.at(`data.${n}.${name}`)
        const parent = categories.list("data").findIndex((__, i) => categories.at(`data.${i}.id`) === at("parentId"))
        return [at("metadata.titles.en"), parent < 0 ? null : categories.at(`data.${parent}.metadata.titles.en`)].join(
          " < "
        )
      })
      assert.sameMembers(tree, ["Men < ", "Women < ", "Décor & Co < Men", "Décor & Co < Women", "Hats, caps < "])
      assert.lengthOf(hoodie.list("data.categories"), 3)
      assert.deepStrictEqual(hoodie.list("data.optionTypes").map((_, n) => hoodie.at(`data.optionTypes.${n}.name`)), [
        "Size"
      ])
      const variants = [0, 1].map((n) =>
        ["sku", "manageInventory", "allowBackorder"].map((name) => hoodie.at(`data.variants.${n}.${name}`))
      )
      assert.sameDeepMembers(variants, [["H-L", false, false], ["H-S", true, false]])
      const cap = yield* store.get("catalog/entities/cap?include=inventory,pricing")
      assert.deepStrictEqual(
        [cap.at("data.allowBackorder"), cap.at("data.inventory.0.onHand"), cap.at("data.pricing.0.amount")],
        [true, 7, 1250]
      )
      const honey = yield* store.get(`catalog/entities/${encodeURIComponent("мёд-蜂蜜")}?include=inventory`)
      assert.deepStrictEqual([honey.at("data.manageInventory"), honey.at("data.inventory.0.onHand")], [true, 0])
      const other = yield* store.get("catalog/entities/cap-8")
      assert.deepStrictEqual([other.at("data.manageInventory"), other.at("data.allowBackorder")], [true, true])
      const book = yield* store.get("catalog/entities/book?include=pricing")
      assert.deepStrictEqual([book.list("data.pricing"), book.at("data.metadata.externalUrl")], [
        [],
        "https://books.example/1"
      ])
      assert.deepStrictEqual(yield* store.send(file, query), [0, 0, 8, 0])
    }))

  it.effect("refuse variations of a product that is nowhere in the file, and products without a name", () =>
    Effect.gen(function*() {
      const { send } = yield* aStore
      const wrong = fileOf({ Type: "variation", Parent: "NONE" }, { Type: "simple" }, {
        Type: "variation",
        Parent: "NONE"
      })
      assert.deepStrictEqual(
        yield* send(wrong, query),
        withReasons([0, 0, 0, 2], "2:  There is no product \"NONE\" in the file.", "3:  The product has no name.")
      )
    }))
})
