import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { api, withApp } from "../support/TestApp.ts"
import { aStore, counts, imported, jsonl } from "./ImportFixtures.ts"

/** Lines of a list of an import, with these fields. */
const linesOf = Effect.fnUntraced(function*(id: string, list: string, as: object, fields: ReadonlyArray<string>) {
  const answer = yield* api("GET", `/api/imports/${id}/${list}`, { as })
  const lines = answer.list("data").map((_, n) => fields.map((field) => answer.at(`data.${n}.${field}`)))
  assert.strictEqual(answer.number("meta.pagination.total"), lines.length)
  return lines
})

withApp("a dry run", (it) => {
  it.effect("answers what would be created, changed, refused and warned of, by line, and changes nothing", () =>
    Effect.gen(function*() {
      const { as, exported, get, send } = yield* aStore
      yield* send(jsonl(
        { slug: "mug", type: "product", attributes: [{ title: "Mug" }], variants: [{ sku: "ONE" }] },
        { slug: "cup", type: "product" }
      ))
      const before = yield* exported()
      const file = jsonl(
        { slug: "mug", status: "active", attributes: [{ title: "Large mug" }] },
        { slug: "cup", type: "product" },
        { slug: "hat", type: "product", variants: [{ sku: "ONE" }], categories: ["hats"] },
        { slug: "bad", type: "product", taxClass: "no-such" }
      )
      const done = yield* imported(file, { as, query: "format=jsonl&dryRun=true" })
      const id = done.text("data.id")
      assert.deepStrictEqual([...counts(done), done.number("data.warned")], [1, 1, 1, 1, 1])
      const fields = ["line", "key", "result", "changes.0.type", "changes.0.fields", "changes.1.type", "changes.2.type"]
      assert.deepStrictEqual(yield* linesOf(id, "changes", as, fields), [
        [
          1,
          "mug",
          "updated",
          "catalog.update",
          ["status", "isVisible", "publishedAt", "attributes"],
          undefined,
          undefined
        ],
        [3, "hat", "created", "catalog.create", [], "categories.create", "categories.link"]
      ])
      assert.deepStrictEqual(yield* linesOf(id, "warnings", as, ["line", "key"]), [[3, "hat"]])
      assert.deepStrictEqual(yield* linesOf(id, "refusals", as, ["line", "key"]), [[4, "bad"]])
      assert.strictEqual(yield* exported(), before)
      assert.strictEqual((yield* get("catalog/entities/hat")).status, 404)
      const real = yield* imported(file, { as, query: "format=jsonl" })
      assert.deepStrictEqual(counts(real), counts(done))
      assert.deepStrictEqual(yield* linesOf(real.text("data.id"), "changes", as, ["line"]), [])
    }))

  it.effect("of another shop's file says what prices and stock would change", () =>
    Effect.gen(function*() {
      const { as, send } = yield* aStore
      const head =
        "Handle,Title,Option1 Name,Option1 Value,Variant Price,Variant Inventory Tracker,Variant Inventory Qty\n"
      yield* send(`${head}tee,Tee,Title,Default Title,5,shopify,1\n`, "format=shopify&pictures=false")
      const file = `${head}tee,Tee,Title,Default Title,6,shopify,2\n`
      const done = yield* imported(file, { as, query: "format=shopify&pictures=false&dryRun=true" })
      const fields = ["line", "result", "changes.0.type", "changes.0.fields", "changes.1.type"]
      assert.deepStrictEqual(yield* linesOf(done.text("data.id"), "changes", as, fields), [
        [2, "updated", "pricing.update", ["amount"], "inventory.afterAdjust"]
      ])
    }))
})
