import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { api, withApp } from "../support/TestApp.ts"
import { aStore, jsonl, withReasons } from "./ImportFixtures.ts"

/** A store with a shirt of two variants, one of which has no SKU. */
const aShirtStore = Effect.tap(aStore, ({ send }) =>
  send(jsonl({
    slug: "shirt",
    type: "product",
    status: "active",
    attributes: [{ title: "Shirt" }],
    variants: [{ sku: "S", options: { Size: "S" } }, { options: { Size: "M" } }]
  })))

const shopify =
  `Handle,Title,Body (HTML),Vendor,Type,Tags,Published,Option1 Name,Option1 Value,Option2 Name,Option2 Value,Variant SKU,Variant Grams,Variant Inventory Tracker,Variant Inventory Qty,Variant Price,Variant Compare At Price,Variant Barcode,Image Src,Image Alt Text,Status
tee,Tee & Co,"<p>Soft &amp; <b>warm</b></p>",Acmé Inc,Shirts,"new, cotton",true,Size,S,Colour,Red,TEE-S,200,shopify,5,19.9,25.00,'0123,https://cdn.example/1.jpg,Front,active
tee,,,,,,,,M,,Red,TEE-M,200,shopify,-2,21.00,,,https://cdn.example/2.jpg,,
tee,,,,,,,,,,,,,,,,,,https://cdn.example/3.jpg,,
mug,Mug,Plain,,,,false,Title,Default Title,,,,0,,,5,,,,,draft
bad,Bad,,,,,true,Title,Default Title,,,BAD-1,,shopify,many,1,,,,,active
`

const woo =
  `ID,Type,SKU,Name,Published,Visibility in catalog,Description,Tax class,Stock,Weight (kg),Sale price,Regular price,Categories,Tags,Images,Parent,Attribute 1 name,Attribute 1 value(s)
1,variable,HOOD,Hoodie,1,visible,<p>Warm</p>,reduced,,0.5,,,"Clothing > Hoodies, Winter",soft,https://s.example/h.jpg,,Size,"S, M"
2,variation,HOOD-S,Hoodie - S,1,visible,,parent,3,0.5,30,35.5,,,,HOOD,Size,S
3,variation,HOOD-M,Hoodie - M,1,visible,,parent,4,0.5,,36,,,,id:1,Size,M
4,simple,,Cap,1,visible,Plain,,7,,,12.00,,,,,,
5,variation,X,X,1,visible,,,,,,1,,,,NONE,Size,S
`

withApp("imports of records", (it) => {
  it.effect("set prices by slug, SKU and options, and change nothing when the file or its export comes again", () =>
    Effect.gen(function*() {
      const store = yield* aShirtStore
      const file = "slug,sku,options,currency,amount,minQuantity,validFrom\n" +
        "shirt,,,USD,1000,,\n,S,,USD,1100,,\nshirt,,\"{\"\"Size\"\":\"\"M\"\"}\",usd,1200,10,2026-01-01\n"
      assert.deepStrictEqual(yield* store.send(file, "kind=prices"), [3, 0, 0, 0])
      assert.deepStrictEqual(yield* store.send(file, "kind=prices"), [0, 0, 3, 0])
      const more = jsonl({ sku: "S", currency: "USD", amount: 900, compareAtAmount: 1100 })
      assert.deepStrictEqual(yield* store.send(more, "kind=prices&format=jsonl"), [0, 1, 0, 0])
      for (const format of ["csv", "jsonl"]) {
        const whole = yield* store.exported("prices", format)
        assert.deepStrictEqual(yield* store.send(whole, `kind=prices&format=${format}`), [0, 0, 3, 0])
      }
    }))

  it.effect("refuse prices of unknown things and prices that make no sense", () =>
    Effect.gen(function*() {
      const store = yield* aShirtStore
      const file =
        "slug,sku,currency,amount,minQuantity,maxQuantity,customerGroup\nnothing,,USD,1,,,\nshirt,S,XXX,1,,,\n" +
        "other,S,USD,1,,,\nshirt,,USD,-1,,,\nshirt,,USD,1,5,2,\nshirt,,USD,1,,,Missing\n,,USD,1,,,\nshirt,,USD,1,,,,more\n"
      assert.deepStrictEqual(
        yield* store.send(file, "kind=prices"),
        withReasons(
          [0, 0, 0, 8],
          "2:  There is no entity with the slug 'nothing'.",
          "3: currency currency must be the code of a current currency, such as EUR.",
          "4:  The SKU 'S' belongs to 'shirt'.",
          "5: amount amount must be between 0 and 9007199254740991.",
          "6: maxQuantity maxQuantity must not be below minQuantity.",
          "7:  There is no customer group called 'Missing'.",
          "8:  A slug or a SKU is needed.",
          "9:  8 cells for 7 columns."
        )
      )
    }))

  it.effect("set stock on hand, and refuse less than is reserved", () =>
    Effect.gen(function*() {
      const store = yield* aShirtStore
      const { as } = store
      const file = "sku,warehouse,onHand,reorderThreshold\nS,,5,2\nS,NOWHERE,5,\n"
      assert.deepStrictEqual(
        yield* store.send(file, "kind=stock"),
        withReasons(
          [1, 0, 0, 1],
          "3:  There is no warehouse with the code 'NOWHERE'."
        )
      )
      const found = yield* store.get("catalog/entities/shirt?include=variants")
      const item = { entityId: found.text("data.id"), variantId: found.text("data.variants.0.id") }
      yield* api("POST", "/api/inventory/reserve", { as, body: { ...item, quantity: 3, orderId: "A" } })
      assert.deepStrictEqual(
        yield* store.send("sku,onHand\nS,2\n", "kind=stock"),
        withReasons(
          [0, 0, 0, 1],
          "2: onHand onHand must leave the 3 units that are reserved, and would leave 2."
        )
      )
      assert.deepStrictEqual(yield* store.send("sku,onHand\nS,3\n", "kind=stock"), [0, 1, 0, 0])
      const level = yield* store.get(`inventory/levels?entityId=${item.entityId}`)
      assert.deepInclude(level.at("data.0"), { quantityOnHand: 3, quantityReserved: 3, reorderThreshold: 2 })
      assert.deepStrictEqual(yield* store.send(yield* store.exported("stock", "csv"), "kind=stock"), [0, 0, 1, 0])
    }))

  it.effect("create customers with groups and addresses, and find them by e-mail address in any case", () =>
    Effect.gen(function*() {
      const store = yield* aStore
      const query = "kind=customers&format=jsonl"
      const home = { type: "shipping", lastName: "B", line1: "1 Main St", city: "Town", country: "NL", isDefault: true }
      const ann = {
        email: "Ann@Home.example",
        firstName: "Ann",
        groups: ["Regulars"],
        metadata: { since: 2020 },
        addresses: [{ ...home, firstName: "Ann" }]
      }
      assert.deepStrictEqual(yield* store.send(jsonl(ann), query), [1, 0, 0, 0])
      assert.deepStrictEqual(yield* store.send(jsonl({ ...ann, email: "ann@home.example" }), query), [0, 0, 1, 0])
      const changed = jsonl({ email: "ann@home.example", lastName: "Brown", groups: [] })
      assert.deepStrictEqual(yield* store.send(changed, query), [0, 1, 0, 0])
      const list = yield* store.get("customers")
      assert.deepStrictEqual(
        [list.list("data").length, list.at("data.0.lastName"), list.at("data.0.groupIds")],
        [1, "Brown", []]
      )
      const csv = yield* store.exported("customers", "csv")
      assert.deepStrictEqual(yield* store.send(csv, "kind=customers"), [0, 0, 1, 0])
      assert.strictEqual(yield* store.exported("customers", "csv"), csv)
    }))

  it.effect("refuse customers with an invalid e-mail address or one that several have", () =>
    Effect.gen(function*() {
      const { as, send } = yield* aStore
      for (const _ of [1, 2]) yield* api("POST", "/api/customers", { as, body: { email: "two@home.example" } })
      const done = yield* send("email\nno-address\nTWO@home.example\n", "kind=customers")
      assert.deepStrictEqual(done.slice(0, 4), [0, 0, 0, 2])
    }))

  it.effect("take products of Shopify with variants, prices, stock, tags and pictures", () =>
    Effect.gen(function*() {
      const { get, send } = yield* aStore
      const query = "format=shopify&currency=EUR&pictures=false"
      assert.deepStrictEqual((yield* send(shopify, query)).slice(0, 4), [2, 0, 0, 1])
      const tee = yield* get("catalog/entities/tee?include=attributes,variants,pricing,inventory,brands")
      const images = [1, 2, 3].map((n) => ({
        src: `https://cdn.example/${n}.jpg`,
        ...(n === 1 ? { alt: "Front" } : {})
      }))
      const metadata = { vendor: "Acmé Inc", productType: "Shirts", tags: ["new", "cotton"], images }
      assert.deepStrictEqual(tee.at("data.metadata"), metadata)
      assert.deepInclude(tee.at("data.attributes.0"), { description: "Soft & warm" })
      assert.deepInclude(tee.at("data.brands.0"), { slug: "acme-inc" })
      assert.deepInclude(tee.at("data.variants.0"), { barcode: "0123" })
      assert.lengthOf(tee.list("data.pricing"), 2)
      assert.deepInclude(tee.at("data.pricing.0"), { amount: 1990, currency: "EUR" })
      assert.deepInclude(tee.at("data.inventory.0"), { onHand: 5 })
      const mug = yield* get("catalog/entities/mug?include=variants,pricing")
      assert.deepStrictEqual([mug.at("data.status"), mug.at("data.pricing.0.amount")], ["draft", 500])
      assert.deepStrictEqual((yield* send(shopify, query)).slice(0, 4), [0, 0, 2, 1])
    }))

  it.effect("order pictures of Shopify by their positions and not by their lines", () =>
    Effect.gen(function*() {
      const { get, send } = yield* aStore
      const file = "Handle,Title,Image Src,Image Position\nring,Ring,https://cdn.example/3.jpg,3\n" +
        "ring,,https://cdn.example/1.jpg,1\nring,,https://cdn.example/2.jpg,2"
      yield* send(file, "format=shopify&pictures=false")
      assert.deepStrictEqual(
        (yield* get("catalog/entities/ring")).at("data.metadata.images"),
        [1, 2, 3].map((n) => ({ src: `https://cdn.example/${n}.jpg` }))
      )
    }))

  it.effect("take products of WooCommerce with the variations that follow them", () =>
    Effect.gen(function*() {
      const { as, get, send } = yield* aStore
      const query = "format=woocommerce&pictures=false"
      const unknown = "'reduced' is no tax class of this store. Create it first, or name another one."
      assert.include(JSON.stringify(yield* send(woo, query)), unknown)
      yield* api("POST", "/api/tax/classes", { as, body: { name: "Reduced", rateBps: 700 } })
      assert.deepStrictEqual((yield* send(woo, query)).slice(0, 4), [1, 0, 1, 1])
      const found = yield* get("catalog/entities/hoodie?include=variants,pricing,inventory,categories")
      assert.deepStrictEqual(
        [
          found.at("data.variants.1.sku"),
          found.at("data.variants.0.metadata.weightGrams"),
          found.list("data.categories").length,
          found.list("data.inventory").length,
          found.at("data.taxClass")
        ],
        ["HOOD-M", 500, 2, 2, "reduced"]
      )
      const cap = yield* get("catalog/entities/cap?include=pricing,inventory")
      assert.deepStrictEqual([cap.at("data.pricing.0.amount"), cap.at("data.inventory.0.onHand")], [1200, 7])
      assert.deepStrictEqual((yield* send(woo, query)).slice(0, 4), [0, 0, 2, 1])
    }))
})
