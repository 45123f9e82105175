import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { api, withApp } from "../support/TestApp.ts"
import { aStore, type Store, withReasons } from "./ImportFixtures.ts"

const cellOf = (cell: string) => `"${cell.replaceAll("\"", "\"\"")}"`

type Cells = Readonly<Record<string, string>>

/** A file with the columns of all its rows. */
const fileOf = (...rows: ReadonlyArray<Cells>) => {
  const header = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  return [header, ...rows.map((row) => header.map((name) => row[name] ?? ""))].map((row) => row.map(cellOf).join())
    .join("\n")
}

/** Key and first warning of each record of the last import that has one. */
const warned = Effect.fnUntraced(function*({ as, get }: Store) {
  const last = yield* get("imports?limit=1")
  const answer = yield* api("GET", `/api/imports/${last.text("data.0.id")}/warnings`, { as })
  return answer.list("data").map((_, n) => [answer.at(`data.${n}.key`), answer.at(`data.${n}.issues.0.message`)])
})

const square = fileOf(
  {
    "Reference Handle": "#latte",
    "Token": "T1",
    "Item Name": "Café Latte",
    "Variation Name": "Small",
    "SKU": "LAT-S",
    "Description": "<p>Hot</p>",
    "Categories": "Drinks > Hot",
    "GTIN": "4012345678901",
    "Item Type": "Prepared food and beverage",
    "Price": "$3.50",
    "Option Name 1": "Size",
    "Option Value 1": "Small",
    "Current Quantity Main": "5",
    "Current Quantity Branch": "2",
    "Modifier Set - Milk": "Y"
  },
  { "Item Name": "Beans", "Variation Name": "Regular", "SKU": "BEANS", "Price": "8", "Online Sale Price": "7.50" },
  {
    "Item Name": "Café Latte",
    "Variation Name": "Large",
    "Price": "4",
    "Option Name 1": "Size",
    "Option Value 1": "Large"
  },
  { "Item Name": "Class", "Variation Name": "Morning", "Price": "variable", "Item Type": "Service", "Archived": "Y" },
  { "Item Name": "Class", "Variation Name": "Evening", "Price": "20", "Item Type": "Service" }
)

const child = {
  "product_type": "simple",
  "attribute_set_code": "Top",
  "visibility": "Not Visible Individually",
  "product_online": "1",
  "tax_class_name": "Taxable Goods",
  "use_config_manage_stock": "1",
  "use_config_backorders": "1"
}

const configurable = {
  "sku": "WS12",
  "product_type": "configurable",
  "attribute_set_code": "Top",
  "name": "Radiant Tee",
  "description": "<p>Soft</p>",
  "url_key": "radiant-tee",
  "categories": "Default Category/Women/Tops,Default Category/Sale",
  "visibility": "Catalog, Search",
  "product_online": "1",
  "tax_class_name": "Taxable Goods",
  "additional_attributes": "material=Cotton, organic,fit=Slim",
  "configurable_variations": "sku=WS12-XS,size=XS,color=Blue|sku=WS12-S,size=S,color=Blue|sku=GONE,size=M,color=Blue",
  "configurable_variation_labels": "size=Size,color=Colour"
}

const magento = fileOf(
  {
    ...child,
    "sku": "WS12-XS",
    "name": "Radiant Tee-XS",
    "price": "22.0000",
    "qty": "100.0000",
    "special_price": "20",
    "special_price_from_date": "2/1/24, 12:00 AM"
  },
  configurable,
  {
    ...child,
    "sku": "WS12-S",
    "name": "Radiant Tee-S",
    "price": "22",
    "qty": "3",
    "use_config_backorders": "0",
    "allow_backorders": "1"
  },
  {
    ...configurable,
    "store_view_code": "de",
    "name": "Strahlendes Hemd",
    "configurable_variations": "",
    "product_type": "simple"
  },
  {
    "sku": "EBOOK",
    "product_type": "downloadable",
    "name": "E-Book",
    "price": "9.99",
    "manage_stock": "0",
    "visibility": "Catalog, Search",
    "product_online": "2"
  },
  {
    "sku": "SET",
    "product_type": "bundle",
    "name": "Set",
    "price": "1",
    "visibility": "Catalog, Search",
    "product_online": "1"
  },
  { ...child, "sku": "ALONE", "name": "Alone", "price": "1", "qty": "1" }
)

withApp("files of more shops", (it) => {
  it.effect("of Square bring variations, stock of all locations, categories and sale prices", () =>
    Effect.gen(function*() {
      const store = yield* aStore
      const query = "format=square&currency=USD&pictures=false"
      assert.deepStrictEqual(yield* store.send(square, query), [3, 0, 0, 0])
      assert.deepStrictEqual(yield* warned(store), [
        ["cafe-latte", "The stock of 2 locations was added up: Main, Branch."],
        ["class", "A variable price is asked at the till and not taken over: give the product a price."]
      ])
      const latte = yield* store.get(
        "catalog/entities/cafe-latte?include=variants,inventory,pricing,categories,optionTypes"
      )
      assert.deepStrictEqual(
        ["sku", "barcode", "manageInventory"].map((name) => latte.at(`data.variants.0.${name}`)),
        ["LAT-S", "4012345678901", true]
      )
      assert.deepStrictEqual(
        [
          latte.at("data.inventory.0.onHand"),
          latte.at("data.variants.1.manageInventory"),
          latte.at("data.optionTypes.0.name")
        ],
        [7, false, "Size"]
      )
      assert.deepStrictEqual(
        latte.list("data.pricing").map((_, n) => latte.at(`data.pricing.${n}.amount`)).toSorted(),
        [350, 400]
      )
      assert.strictEqual(latte.at("data.categories.0.metadata.titles.en"), "Hot")
      const beans = yield* store.get("catalog/entities/beans?include=pricing")
      assert.deepStrictEqual([beans.at("data.pricing.0.amount"), beans.at("data.pricing.0.compareAtAmount")], [
        750,
        800
      ])
      const lesson = yield* store.get("catalog/entities/class")
      assert.deepStrictEqual([lesson.at("data.type"), lesson.at("data.status")], ["service", "archived"])
      assert.deepStrictEqual(yield* store.send(square, query), [0, 0, 3, 0])
    }))

  it.effect("of Magento join configurable products with their variations, before and behind them", () =>
    Effect.gen(function*() {
      const store = yield* aStore
      const query = "format=magento&currency=EUR&pictures=false"
      assert.deepStrictEqual(yield* store.send(magento, query), [4, 0, 0, 0])
      assert.deepStrictEqual(yield* warned(store), [
        ["radiant-tee", "Texts of other store views are not taken over."],
        ["set", "A bundle product comes in without a price and cannot be bought: its parts are products of their own."]
      ])
      const tee = yield* store.get(
        "catalog/entities/radiant-tee?include=variants,inventory,pricing,categories,optionTypes"
      )
      assert.deepStrictEqual(
        [0, 1].map((n) =>
          ["sku", "manageInventory", "allowBackorder"].map((name) => tee.at(`data.variants.${n}.${name}`))
        ),
        [["WS12-XS", true, false], ["WS12-S", true, true]]
      )
      assert.deepStrictEqual(tee.list("data.optionTypes").map((_, n) => tee.at(`data.optionTypes.${n}.name`)), [
        "Size",
        "Colour"
      ])
      assert.deepStrictEqual(tee.at("data.metadata.attributes"), { material: "Cotton, organic", fit: "Slim" })
      assert.deepStrictEqual(tee.list("data.pricing").map((_, n) => tee.at(`data.pricing.${n}.amount`)).toSorted(), [
        2000,
        2200,
        2200
      ])
      assert.deepStrictEqual(
        tee.list("data.inventory").map((_, n) => tee.at(`data.inventory.${n}.onHand`)).toSorted(),
        [100, 3]
      )
      assert.sameMembers(
        tee.list("data.categories").map((_, n) => tee.at(`data.categories.${n}.slug`)),
        ["women--tops", "sale"]
      )
      const book = yield* store.get("catalog/entities/e-book")
      assert.deepStrictEqual(
        ["type", "status", "manageInventory"].map((name) => book.at(`data.${name}`)),
        ["digitalDownload", "draft", false]
      )
      assert.strictEqual((yield* store.get("catalog/entities/alone")).at("data.isVisible"), false)
      assert.deepStrictEqual(yield* store.send(magento, query), [0, 0, 4, 0])
    }))

  it.effect("are refused where they have other columns", () =>
    Effect.gen(function*() {
      const { as } = yield* aStore
      for (const [format, shop] of [["square", "Square"], ["magento", "Magento"]] as const) {
        const answer = yield* api("POST", `/api/imports?format=${format}`, {
          as,
          body: "slug\nx\n",
          headers: { "content-type": "text/csv" }
        })
        assert.strictEqual(answer.status, 422)
        assert.include(answer.text("error.message"), `This is not a product export of ${shop}`)
      }
      const { send } = yield* aStore
      assert.deepStrictEqual(
        yield* send("sku,product_type,store_view_code,name\nA,simple,de,A\n", "format=magento"),
        withReasons([0, 0, 0, 1], "2:  The file has no row of \"A\" for the default store view.")
      )
    }))
})
