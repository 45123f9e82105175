import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { anOrganization } from "../support/Organizations.ts"
import { api, asAdmin, withApp } from "../support/TestApp.ts"
import { counts, exported, imported, jsonl, reasons, upload } from "./ImportCalls.ts"

const as = asAdmin
const of = (kind: string, format = "jsonl") => ({ query: `kind=${kind}&format=${format}` })

const categories = [
  { slug: "clothes", metadata: { title: "Clothes" } },
  { slug: "a-shirts", parent: "clothes", sortOrder: 2 },
  { slug: "summer", parent: "a-shirts", status: "archived" }
]

const parentOf = (slug: string) =>
  Effect.map(
    api("GET", `/api/catalog/categories/${slug}`, { as }),
    (answer) => answer.list("data.path").map((step) => (step as { slug: string }).slug).join("/")
  )

withApp("files", (it) => {
  describe("of categories", () => {
    it.effect("make a tree, move what is in it, and change nothing the second time", () =>
      Effect.gen(function*() {
        const file = jsonl(...categories)
        assert.deepStrictEqual(counts(yield* imported(file, of("categories"))), [3, 0, 0, 0])
        assert.strictEqual(yield* parentOf("summer"), "clothes/a-shirts/summer")
        assert.deepStrictEqual(counts(yield* imported(file, of("categories"))), [0, 0, 3, 0])
        const moved = jsonl({ slug: "summer", parent: "clothes", status: "active" }, { slug: "a-shirts", parent: null })
        assert.deepStrictEqual(counts(yield* imported(moved, of("categories"))), [0, 2, 0, 0])
        assert.deepStrictEqual([yield* parentOf("summer"), yield* parentOf("a-shirts")], ["clothes/summer", "a-shirts"])
        const { id } = (yield* api("GET", "/api/catalog/categories/summer", { as })).at("data") as { id: string }
        const audit = yield* api("GET", `/api/audit?entityType=category&entityId=${id}`, { as })
        assert.deepStrictEqual(
          audit.list("data").map((entry) => (entry as { event: string }).event).toSorted(),
          ["categories.create", "categories.restore", "categories.update"]
        )
      }))

    it.effect("close no circle, and name no parent that is not there", () =>
      Effect.gen(function*() {
        const before = yield* exported("categories", "jsonl")
        const done = yield* imported(
          jsonl(
            { slug: "clothes", parent: "summer" },
            { slug: "clothes", parent: "clothes" },
            { slug: "new", parent: "new" },
            { slug: "new", parent: "nowhere" },
            { slug: "clothes", colour: 1 }
          ),
          of("categories")
        )
        assert.deepStrictEqual(counts(done), [0, 0, 0, 5])
        assert.deepStrictEqual(yield* reasons(done.text("data.id")), [
          "1: parent A category cannot lie below itself.",
          "2: parent A category cannot lie below itself.",
          "3: parent A category cannot lie below itself.",
          "4: parent There is no category 'nowhere', here or before it in the file.",
          "5: colour Expected no excess property"
        ])
        assert.strictEqual(yield* exported("categories", "jsonl"), before)
        // Each of the two is harmless: only the second closes the circle that both would be.
        yield* imported(jsonl({ slug: "x" }, { slug: "y" }), of("categories"))
        const both = yield* imported(jsonl({ slug: "x", parent: "y" }, { slug: "y", parent: "x" }), of("categories"))
        assert.deepStrictEqual(counts(both), [0, 1, 0, 1])
      }))
  })

  describe("of brands", () => {
    it.effect("give them names, and change nothing the second time", () =>
      Effect.gen(function*() {
        const file = jsonl({ slug: "acme", displayName: "ACME Inc.", metadata: { since: 1920 } }, { slug: "plain" })
        assert.deepStrictEqual(counts(yield* imported(file, of("brands"))), [2, 0, 0, 0])
        assert.deepStrictEqual(counts(yield* imported(file, of("brands"))), [0, 0, 2, 0])
        const renamed = yield* imported("slug,displayName\nplain,Plain & Co\n", of("brands", "csv"))
        assert.deepStrictEqual(counts(renamed), [0, 1, 0, 0])
        const list = yield* api("GET", "/api/catalog/brands", { as })
        assert.deepStrictEqual([list.at("data.0.displayName"), list.at("data.1.displayName")], [
          "ACME Inc.",
          "Plain & Co"
        ])
        assert.deepStrictEqual(counts(yield* imported(jsonl({ slug: "plain", displayName: "" }), of("brands"))), [
          0,
          0,
          0,
          1
        ])
      }))
  })

  for (const kind of ["categories", "brands"]) {
    it.effect(`of ${kind} come out of another store as they went in, as both kinds of files`, () =>
      Effect.gen(function*() {
        const by = yield* anOrganization
        for (const format of ["csv", "jsonl"]) {
          const whole = yield* exported(kind, format)
          assert.strictEqual((yield* imported(whole, { ...of(kind, format), as: by })).number("data.refused"), 0)
          assert.strictEqual(yield* exported(kind, format, by), whole)
        }
      }))

    it.effect(`of ${kind} are for those who keep the catalog`, () =>
      Effect.gen(function*() {
        const shopper = { ...as, permissions: ["catalog:read", "customers:create"] }
        assert.strictEqual((yield* upload("", { ...of(kind), as: shopper })).status, 403)
        assert.strictEqual((yield* api("GET", `/api/exports/${kind}`, { as: shopper })).status, 403)
      }))
  }
})
