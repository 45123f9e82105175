import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { api, asAdmin, withApp } from "../support/TestApp.ts"
import { counts, exported, imported, jsonl, reasons } from "./ImportCalls.ts"

const as = asAdmin

/** A shirt with two variants, one of which has no SKU. */
const aShirt = (slug: string) =>
  imported(
    jsonl({
      slug,
      type: "product",
      status: "active",
      attributes: [{ title: "Shirt" }],
      variants: [{ sku: `${slug}-S`, options: { Size: "S" } }, { options: { Size: "M" } }]
    }),
    { query: "format=jsonl" }
  )

withApp("an import", (it) => {
  describe("of prices", () => {
    it.effect("sets them by slug, SKU and options, and the same file changes nothing", () =>
      Effect.gen(function*() {
        yield* aShirt("priced")
        const file = "slug,sku,options,currency,amount,minQuantity,validFrom\n" +
          "priced,,,USD,1000,,\n,priced-S,,USD,1100,,\npriced,,\"{\"\"Size\"\":\"\"M\"\"}\",usd,1200,10,2026-01-01\n"
        assert.deepStrictEqual(counts(yield* imported(file, { query: "kind=prices" })), [3, 0, 0, 0])
        assert.deepStrictEqual(counts(yield* imported(file, { query: "kind=prices" })), [0, 0, 3, 0])
        const more = jsonl({ sku: "priced-S", currency: "USD", amount: 900, compareAtAmount: 1100 })
        assert.deepStrictEqual(counts(yield* imported(more, { query: "kind=prices&format=jsonl" })), [0, 1, 0, 0])
        const csv = yield* exported("prices")
        assert.deepStrictEqual(counts(yield* imported(csv, { query: "kind=prices" })), [0, 0, 3, 0])
        const lines = yield* exported("prices", "jsonl")
        assert.deepStrictEqual(counts(yield* imported(lines, { query: "kind=prices&format=jsonl" })), [0, 0, 3, 0])
      }))

    it.effect("are refused for what is not there, or makes no sense", () =>
      Effect.gen(function*() {
        const done = yield* imported(
          "slug,sku,currency,amount,minQuantity,maxQuantity,customerGroup\nnothing,,USD,1,,,\npriced,priced-S,XXX,1,,,\n" +
            "other,priced-S,USD,1,,,\npriced,,USD,-1,,,\npriced,,USD,1,5,2,\npriced,,USD,1,,,Nobody\n,,USD,1,,,\n" +
            "priced,,USD,1,,,,more\n",
          { query: "kind=prices" }
        )
        assert.deepStrictEqual(counts(done), [0, 0, 0, 8])
        assert.deepStrictEqual(yield* reasons(done.text("data.id")), [
          "2:  There is no entity with the slug 'nothing'.",
          "3: currency Unknown currency XXX",
          "4:  The SKU 'priced-S' belongs to 'priced'.",
          "5: amount Expected a value between 0 and 9007199254740991",
          "6: maxQuantity must not be below minQuantity",
          "7:  There is no customer group called 'Nobody'.",
          "8:  A slug or a SKU is needed.",
          "9:  8 cells for 7 columns."
        ])
      }))
  })

  describe("of stock", () => {
    it.effect("sets what lies there, and refuses less than what is reserved", () =>
      Effect.gen(function*() {
        yield* aShirt("stocked")
        const file = "sku,warehouse,onHand,reorderThreshold\nstocked-S,,5,2\nstocked-S,NOWHERE,5,\n"
        const done = yield* imported(file, { query: "kind=stock" })
        assert.deepStrictEqual(counts(done), [1, 0, 0, 1])
        assert.deepStrictEqual(yield* reasons(done.text("data.id")), [
          "3:  There is no warehouse with the code 'NOWHERE'."
        ])
        const found = yield* api("GET", "/api/catalog/entities/stocked?include=variants", { as })
        const item = { entityId: found.text("data.id"), variantId: found.text("data.variants.0.id") }
        yield* api("POST", "/api/inventory/reserve", { as, body: { ...item, quantity: 3, orderId: "A" } })
        const less = yield* imported("sku,onHand\nstocked-S,2\n", { query: "kind=stock" })
        assert.deepStrictEqual(yield* reasons(less.text("data.id")), [
          "2: onHand would leave 2 on hand with 3 reserved"
        ])
        assert.deepStrictEqual(counts(yield* imported("sku,onHand\nstocked-S,3\n", { query: "kind=stock" })), [
          0,
          1,
          0,
          0
        ])
        const level = yield* api("GET", `/api/inventory/levels?entityId=${item.entityId}`, { as })
        assert.deepStrictEqual(
          [level.at("data.0.quantityOnHand"), level.at("data.0.quantityReserved"), level.at("data.0.reorderThreshold")],
          [3, 3, 2]
        )
        const csv = yield* exported("stock")
        assert.deepStrictEqual(counts(yield* imported(csv, { query: "kind=stock" })), [0, 0, 1, 0])
      }))
  })

  describe("of customers", () => {
    it.effect("enters them with groups and addresses, by their e-mail address in any case", () =>
      Effect.gen(function*() {
        const ann = {
          email: "Ann@Home.example",
          firstName: "Ann",
          groups: ["Regulars"],
          metadata: { since: 2020 },
          addresses: [{
            type: "shipping",
            firstName: "Ann",
            lastName: "B",
            line1: "1 Main St",
            city: "Town",
            country: "NL",
            isDefault: true
          }]
        }
        const of = { query: "kind=customers&format=jsonl" }
        assert.deepStrictEqual(counts(yield* imported(jsonl(ann), of)), [1, 0, 0, 0])
        assert.deepStrictEqual(counts(yield* imported(jsonl({ ...ann, email: "ann@home.example" }), of)), [0, 0, 1, 0])
        const changed = jsonl({ email: "ann@home.example", lastName: "Brown", groups: [] })
        assert.deepStrictEqual(counts(yield* imported(changed, of)), [0, 1, 0, 0])
        const list = yield* api("GET", "/api/customers", { as })
        assert.deepStrictEqual(
          [list.list("data").length, list.at("data.0.lastName"), list.at("data.0.groupIds")],
          [1, "Brown", []]
        )
        const csv = yield* exported("customers")
        assert.deepStrictEqual(counts(yield* imported(csv, { query: "kind=customers" })), [0, 0, 1, 0])
        assert.strictEqual(yield* exported("customers"), csv)
      }))

    it.effect("are refused where the address is none, or several have it", () =>
      Effect.gen(function*() {
        for (const _ of [1, 2]) yield* api("POST", "/api/customers", { as, body: { email: "two@home.example" } })
        const done = yield* imported("email\nnobody\nTWO@home.example\n", { query: "kind=customers" })
        assert.deepStrictEqual(counts(done), [0, 0, 0, 2])
      }))
  })
})
