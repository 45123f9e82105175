import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { api, asAdmin, withApp } from "../support/TestApp.ts"
import { counts, imported, reasons } from "./ImportCalls.ts"

const as = asAdmin

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

withApp("products of other shops", (it) => {
  it.effect("come from Shopify with variants, prices, stock, tags and pictures", () =>
    Effect.gen(function*() {
      const done = yield* imported(shopify, { query: "format=shopify&currency=EUR&pictures=false" })
      assert.deepStrictEqual(counts(done), [2, 0, 0, 1], JSON.stringify(yield* reasons(done.text("data.id"))))
      const tee = yield* api("GET", "/api/catalog/entities/tee?include=attributes,variants,pricing,inventory,brands", {
        as
      })
      assert.deepStrictEqual(tee.at("data.metadata"), {
        vendor: "Acmé Inc",
        productType: "Shirts",
        tags: ["new", "cotton"],
        images: [{ src: "https://cdn.example/1.jpg", alt: "Front" }, { src: "https://cdn.example/2.jpg" }, {
          src: "https://cdn.example/3.jpg"
        }]
      })
      assert.deepStrictEqual(
        [
          tee.at("data.attributes.0.description"),
          tee.at("data.brands.0.slug"),
          tee.at("data.variants.0.barcode"),
          tee.list("data.pricing").length,
          tee.at("data.pricing.0.amount"),
          tee.at("data.pricing.0.currency"),
          tee.at("data.inventory.0.onHand")
        ],
        ["Soft & warm", "acme-inc", "0123", 2, 1990, "EUR", 5]
      )
      const mug = yield* api("GET", "/api/catalog/entities/mug?include=variants,pricing", { as })
      assert.deepStrictEqual([mug.at("data.status"), mug.at("data.pricing.0.amount")], ["draft", 500])
      assert.deepStrictEqual(
        counts(yield* imported(shopify, { query: "format=shopify&currency=EUR&pictures=false" })),
        [0, 0, 2, 1]
      )
    }))

  it.effect("have their pictures in the order of their places, whichever line they stand on", () =>
    Effect.gen(function*() {
      const lines = [["3", 3], ["1", 1], ["2", 2]] as const
      const file = [
        "Handle,Title,Image Src,Image Position",
        ...lines.map(([name, place], index) =>
          `ring,${index === 0 ? "Ring" : ""},https://cdn.example/${name}.jpg,${place}`
        )
      ].join("\n")
      yield* imported(file, { query: "format=shopify&pictures=false" })
      const ring = yield* api("GET", "/api/catalog/entities/ring", { as })
      assert.deepStrictEqual(
        ring.at("data.metadata.images"),
        ["1", "2", "3"].map((name) => ({ src: `https://cdn.example/${name}.jpg` }))
      )
    }))

  it.effect("come from WooCommerce, variations with their product", () =>
    Effect.gen(function*() {
      const done = yield* imported(woo, { query: "format=woocommerce&pictures=false" })
      assert.deepStrictEqual(counts(done), [2, 0, 0, 1], JSON.stringify(yield* reasons(done.text("data.id"))))
      const found = yield* api("GET", "/api/catalog/entities/hoodie?include=variants,pricing,inventory,categories", {
        as
      })
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
      const cap = yield* api("GET", "/api/catalog/entities/cap?include=pricing,inventory", { as })
      assert.deepStrictEqual([cap.at("data.pricing.0.amount"), cap.at("data.inventory.0.onHand")], [1200, 7])
      assert.deepStrictEqual(counts(yield* imported(woo, { query: "format=woocommerce&pictures=false" })), [0, 0, 2, 1])
    }))
})
