import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { api, asAdmin, withApp } from "../support/TestApp.ts"
import { counts, exported, imported, jsonl, reasons } from "./ImportCalls.ts"

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

withApp("an import of a catalog", (it) => {
  describe("from JSON lines", () => {
    it.effect("makes entities with all that belongs to them, and the same file changes nothing", () =>
      Effect.gen(function*() {
        const file = jsonl(shirt, { slug: "mug", type: "product", attributes: [{ title: "Mug" }] })
        const first = yield* imported(file, { type: "application/x-ndjson" })
        assert.deepStrictEqual([first.text("data.state"), ...counts(first)], ["completed", 2, 0, 0, 0])
        const found = yield* api("GET", "/api/catalog/entities/shirt?include=variants,categories,brands,attributes", {
          as: asAdmin
        })
        assert.deepStrictEqual(
          [found.text("data.variants.1.sku"), found.text("data.brands.0.slug"), found.list("data.categories").length],
          ["SHIRT-M", "acme", 2]
        )
        assert.strictEqual((yield* api("GET", "/api/search?q=hemd", { as: asAdmin })).number("meta.total"), 1)
        const again = yield* imported(file, { type: "application/x-ndjson" })
        assert.deepStrictEqual(counts(again), [0, 0, 2, 0])
      }))

    it.effect("comes out as it went in", () =>
      Effect.gen(function*() {
        const before = yield* exported("catalog", "jsonl")
        assert.deepStrictEqual(counts(yield* imported(before, { type: "application/jsonl" })), [0, 0, 2, 0])
        const csv = yield* exported("catalog")
        assert.deepStrictEqual(counts(yield* imported(csv)), [0, 0, 2, 0])
        assert.strictEqual(yield* exported("catalog", "jsonl"), before)
      }))

    it.effect("refuses what is wrong, line by line, and does the rest", () =>
      Effect.gen(function*() {
        const done = yield* imported(
          jsonl({ slug: "hat", type: "product" }, { type: "product" }, { slug: "x", type: "product", colour: 1 }) +
            "\nnot json\n" + jsonl({ slug: "hat", variants: [{ sku: "SHIRT-S" }] }, { slug: "cap", type: "product" }),
          { type: "application/jsonl" }
        )
        assert.deepStrictEqual(counts(done), [2, 0, 0, 4])
        assert.deepStrictEqual(yield* reasons(done.text("data.id")), [
          "2: slug Missing key",
          "3: colour Expected no excess property",
          "4:  The line is not JSON.",
          "5: variants.0.sku The SKU 'SHIRT-S' belongs to another variant."
        ])
      }))
  })
})
