import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { aMedium, withShelf } from "../media/MediaFixtures.ts"
import { anOrganization } from "../support/Organizations.ts"
import { api, asAdmin } from "../support/TestApp.ts"
import { counts, exported, imported, jsonl, reasons } from "./ImportFixtures.ts"

const as = asAdmin
const lines = { query: "format=jsonl" }

const shirt = {
  slug: "shirt",
  type: "product",
  variants: [{ sku: "S", options: { Size: "S" } }, { options: { Size: "M" } }]
}

const mediaOf = (slug: string) =>
  Effect.map(
    api("GET", `/api/catalog/entities/${slug}?include=media`, { as }),
    (answer) =>
      answer.list("data.media").map((one) => {
        const { mediaAssetId, role } = one as { mediaAssetId: string; role: string }
        return [mediaAssetId, role]
      })
  )

withShelf()("media in files of the catalog", (it) => {
  it.effect("replace the attachments of entities and their variants", () =>
    Effect.gen(function*() {
      const [front, back, small] = [yield* aMedium(), yield* aMedium(), yield* aMedium()]
      const media = [
        { id: front, role: "primary" },
        { id: back },
        { id: small, sku: "S" },
        { id: small, options: { Size: "M" }, role: "thumbnail" }
      ]
      const file = jsonl({ ...shirt, media })
      const made = yield* imported(file, lines)
      assert.deepStrictEqual(yield* reasons(made.text("data.id")), [])
      assert.deepStrictEqual(counts(made), [1, 0, 0, 0])
      assert.deepStrictEqual(yield* mediaOf("shirt"), [[front, "primary"], [back, "gallery"]])
      assert.deepStrictEqual(counts(yield* imported(file, lines)), [0, 0, 1, 0])
      const less = jsonl({
        slug: "shirt",
        media: [{ id: back, role: "primary" }, { id: small, sku: "S", sortOrder: 2 }]
      })
      assert.deepStrictEqual(counts(yield* imported(less, lines)), [0, 1, 0, 0])
      assert.deepStrictEqual(yield* mediaOf("shirt"), [[back, "primary"]])
      assert.deepStrictEqual(counts(yield* imported(jsonl({ slug: "shirt", status: "active" }), lines)), [0, 1, 0, 0])
      assert.deepStrictEqual(yield* mediaOf("shirt"), [[back, "primary"]])
      const { id } = (yield* api("GET", "/api/catalog/entities/shirt", { as })).at("data") as { id: string }
      const audit = yield* api("GET", `/api/audit?entityType=catalog_entity&entityId=${id}&limit=100`, { as })
      const events = audit.list("data").map((entry) => (entry as { event: string }).event)
      assert.deepStrictEqual(
        [events.filter((one) => one === "media.attach").length, events.filter((one) => one === "media.detach").length],
        [5, 2]
      )
    }))

  it.effect("are exported as they were imported", () =>
    Effect.gen(function*() {
      const before = yield* exported("catalog", "jsonl")
      assert.match(before, /"media":\[\{"id":"[^"]+","role":"primary","sortOrder":0\},\{[^}]+"sku":"S"\}\]/)
      yield* imported(jsonl({ slug: "shirt", media: [] }), lines)
      assert.deepStrictEqual(yield* mediaOf("shirt"), [])
      for (const format of ["jsonl", "csv"]) {
        const whole = yield* exported("catalog", format)
        assert.deepStrictEqual(counts(yield* imported(whole, { query: `format=${format}` })), [0, 0, 1, 0])
      }
      assert.deepStrictEqual(counts(yield* imported(before, lines)), [0, 1, 0, 0])
      assert.strictEqual(yield* exported("catalog", "jsonl"), before)
    }))

  it.effect("are refused if they are missing, another tenant's, named twice, or the sender may not attach media", () =>
    Effect.gen(function*() {
      const [own, foreign] = [yield* aMedium(), yield* aMedium({ as: yield* anOrganization })]
      const unowned = newId()
      const done = yield* imported(
        jsonl(
          { slug: "shirt", media: [{ id: unowned }] },
          { slug: "shirt", media: [{ id: own }, { id: foreign }] },
          { slug: "shirt", media: [{ id: own }, { id: own, role: "video" }] },
          { slug: "shirt", media: [{ id: own, role: "cover" }] },
          { slug: "shirt", media: [{ id: own, sku: "NO" }] },
          { slug: "cap", media: [{ id: unowned }] }
        ),
        lines
      )
      assert.deepStrictEqual(counts(done), [0, 0, 0, 6])
      assert.deepStrictEqual(yield* reasons(done.text("data.id")), [
        `1: media.0.id media.0.id names no medium: '${unowned}'.`,
        `2: media.1.id media.1.id names no medium: '${foreign}'.`,
        "3: media.1.id media.1.id must not name a medium twice in one place.",
        "4: media.0.role media.0.role must be \"primary\", \"gallery\", \"thumbnail\", \"video\" or \"document\".",
        "5: media.0 media.0 was not attached. There is no variant with the SKU 'NO'. The product was written.",
        `6: media.0.id media.0.id names no medium: '${unowned}'.`
      ])
      const keeper = { ...as, permissions: ["catalog:create", "catalog:update"] }
      const without = yield* imported(jsonl({ slug: "shirt", media: [{ id: own }] }, { slug: "cap", type: "hat" }), {
        ...lines,
        as: keeper
      })
      assert.deepStrictEqual(counts(without), [1, 0, 0, 1])
      const emptied = jsonl({ slug: "shirt", media: [] }, { slug: "cap", media: [] })
      assert.deepStrictEqual(counts(yield* imported(emptied, { ...lines, as: keeper })), [0, 0, 1, 1])
    }))
})
