import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { api, withApp } from "../support/TestApp.ts"
import { aStore, type Store, withReasons } from "./ImportFixtures.ts"

const query = "format=shopify&currency=EUR&pictures=false"

const csv = (...rows: ReadonlyArray<string>) => `${rows.join("\n")}\n`

const before =
  "Handle,Title,Body (HTML),Vendor,Product Category,Type,Tags,Published,Option1 Name,Option1 Value,Option2 Name," +
  "Option2 Value,Variant SKU,Variant Grams,Variant Inventory Tracker,Variant Inventory Qty,Variant Inventory Policy," +
  "Variant Price,Variant Compare At Price,Variant Barcode,Image Src,Image Position,Image Alt Text,Gift Card,Cost per item,Status"

const now =
  "Title,URL handle,Description,Vendor,Product category,Type,Tags,Published on online store,Status,SKU,Barcode," +
  "Option1 name,Option1 value,Option1 Linked To,Price,Compare-at price,Cost per item,Charge tax,Tax code,Inventory tracker," +
  "Inventory quantity,Continue selling when out of stock,Weight value (grams),Weight unit for display,Requires shipping," +
  "Fulfillment service,Product image URL,Image position,Image alt text,Variant image URL,Gift card,SEO title"

/** Variants of an entity: options, SKU, policies, stock and price. */
const variantsOf = Effect.fnUntraced(function*({ get }: Store, slug: string) {
  const found = yield* get(`catalog/entities/${slug}?include=variants,pricing,inventory`)
  assert.strictEqual(found.status, 200, slug)
  return found.list("data.variants").map((_, n) => {
    const at = (name: string) => found.at(`data.variants.${n}.${name}`)
    const of = (list: string, field: string) => {
      const index = found.list(`data.${list}`).findIndex((__, i) =>
        found.at(`data.${list}.${i}.variantId`) === at("id")
      )
      return index < 0 ? null : found.at(`data.${list}.${index}.${field}`)
    }
    return [at("sku"), at("manageInventory"), at("allowBackorder"), of("inventory", "onHand"), of("pricing", "amount")]
  })
})

withApp("product exports of Shopify", (it) => {
  it.effect("have lines of a product anywhere, shared SKUs, goods that nothing tracks and back-orders", () =>
    Effect.gen(function*() {
      const store = yield* aStore
      const others = Array.from(
        { length: 600 },
        (_, n) => `p-${n},P ${n},,,,,,true,Title,Default Title,,,,,,,deny,1,,,,,,,,active`
      )
      const file = csv(
        before,
        "tee,,,,,,,,,M,,,TEE,,shopify,4,continue,21.00,,,https://cdn.example/2.jpg,2,,,,",
        "Tee,Tee & Co,<p>Soft</p>,Acmé Inc,Apparel > Tops,Shirts,a,true,Größe,S,,,TEE,200,shopify,5,deny,\"19,90\",25.00,'0123,https://cdn.example/1.jpg,1,Front,false,4.5,active",
        "course,Course,,,,,,true,Title,Default Title,,,,0,,,deny,5,0.00,,,,,,,active",
        "card,Card,,,,,,true,Title,Default Title,,,,0,,,deny,10,,,,,,true,,active",
        ...others,
        "tee,,,,,,,,,L,,,TEE-L,,,7,deny,21.00,20,,,,,,,",
        "TEE,,,,,,,,,,,,,,,,,,,,https://cdn.example/3.jpg,3,,,,"
      )
      assert.deepStrictEqual(yield* store.send(file, query), [603, 0, 0, 0])
      assert.deepStrictEqual(yield* variantsOf(store, "tee"), [
        ["TEE", true, true, 4, 2100],
        ["TEE", true, false, 5, 1990],
        ["TEE-L", false, false, null, 2100]
      ])
      const tee = yield* store.get("catalog/entities/tee?include=attributes,categories,brands,optionTypes")
      assert.strictEqual(tee.at("data.attributes.0.title"), "Tee & Co")
      assert.deepStrictEqual(
        tee.list("data.categories").map((_, n) => tee.at(`data.categories.${n}.metadata.titles.en`)).toSorted(),
        ["Shirts", "Tops"]
      )
      assert.strictEqual(tee.at("data.brands.0.displayName"), "Acmé Inc")
      assert.strictEqual(tee.at("data.optionTypes.0.name"), "Größe")
      assert.deepStrictEqual(
        [0, 1, 2].map((n) => tee.at(`data.metadata.images.${n}.src`)),
        [1, 2, 3].map((n) => `https://cdn.example/${n}.jpg`)
      )
      assert.deepStrictEqual((yield* store.get("catalog/entities/course")).at("data.manageInventory"), false)
      assert.deepStrictEqual(yield* store.send(file, query), [0, 0, 603, 0])
      const list = yield* store.get("imports?limit=1")
      assert.strictEqual(list.number("data.0.warned"), 2)
      const warnings = yield* api("GET", `/api/imports/${list.text("data.0.id")}/warnings`, { as: store.as })
      assert.deepStrictEqual([0, 1].map((n) => warnings.at(`data.${n}.issues.0.code`)), ["shared_sku", "not_imported"])
    }))

  it.effect("are read with the columns of the present template, in any case, separated by semicolons", () =>
    Effect.gen(function*() {
      const store = yield* aStore
      const file = csv(
        now.replaceAll(",", ";").replace("URL handle", "url Handle"),
        "New Tee;new-tee;<p>Soft</p>;Acme;Apparel > Tops;Shirts;a;TRUE;Active;N-1;;Size;S;;12.00;15.00;;TRUE;;shopify;7;DENY;150;g;TRUE;manual;;;;;FALSE;",
        ";new-tee;;;;;;;;N-2;;;M;;13.00;;;TRUE;;;;CONTINUE;150;g;TRUE;manual;;;;;FALSE;",
        "Old;old;;;;;;FALSE;Unlisted;;;Title;Default Title;;1;;;;;;;;;;;;;;;;;"
      )
      assert.deepStrictEqual(yield* store.send(file, query), [2, 0, 0, 0])
      assert.deepStrictEqual(yield* variantsOf(store, "new-tee"), [
        ["N-1", true, false, 7, 1200],
        ["N-2", false, true, null, 1300]
      ])
      const old = yield* store.get("catalog/entities/old")
      assert.deepStrictEqual([old.at("data.status"), old.at("data.isVisible")], ["active", false])
      assert.deepStrictEqual(yield* store.send(file, query), [0, 0, 2, 0])
    }))

  it.effect("refuse a product with a wrong price, one of too many lines, and a first line that names none", () =>
    Effect.gen(function*() {
      const { send } = yield* aStore
      const head = "Handle,Title,Option1 Name,Option1 Value,Variant Price"
      const lines = Array.from({ length: 2_501 }, (_, n) => `many,,,V${n},1`)
      const file = csv(
        head,
        ",,,,1",
        "bad,Bad,Title,Default Title,1.234.5",
        "many,Many,Size,XS,1",
        ...lines,
        "ok,OK,,,2"
      )
      assert.deepStrictEqual(
        yield* send(file, query),
        withReasons(
          [1, 0, 0, 3],
          "2:  The row names no product: \"Handle\" is empty.",
          "3: prices.0.amount prices.0.amount must be a price such as 12.50.",
          "4:  The product has more than 2500 lines."
        )
      )
    }))
})
