import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { api, asAdmin, asStaff, withSharedApp } from "../support/TestApp.ts"
import { each, entities, make, onDatabase, refused, searching, shopper } from "./CatalogCalls.ts"

const titled = { title: "Sock", description: "warm" }

const patch = (id: string, body: object) => api("PATCH", `${entities}/${id}`, { as: asStaff, body })

const words = (id: string, locale: string, body: object) =>
  api("PUT", `${entities}/${id}/attributes/${locale}`, { as: asStaff, body })

const listed = (id: string, query = "") => api("GET", `${entities}/${id}/revisions${query}`, { as: asStaff })

const restored = (id: string, number: number) =>
  api("POST", `${entities}/${id}/revisions/${number}/restore`, { as: asAdmin })

const numbersOf = (id: string) => Effect.map(listed(id), (answer) => each(answer, "number"))

withSharedApp("revisions over HTTP", (it) => {
  it.effect("each change of an entity keeps a revision that says who, when and what", () =>
    Effect.gen(function*() {
      const { id } = yield* make({ attributes: titled, metadata: { a: 1 } })
      yield* patch(id, { metadata: { a: 2, b: { c: 3 } } })
      yield* words(id, "de", { title: "Socke" })
      yield* api("POST", `${entities}/${id}/publish`, { as: asAdmin })
      const page = yield* listed(id, "?limit=3")
      assert.deepStrictEqual(page.at("meta.pagination"), { page: 1, limit: 3, total: 4, totalPages: 2 })
      const shown = page.list("data").map((one) => one as Record<string, unknown>)
      assert.deepStrictEqual(
        shown.map(({ changedBy, changedByType, changedFields, number, source }) => [
          number,
          changedFields,
          changedBy,
          changedByType,
          source
        ]),
        [
          [4, ["isVisible", "status"], "user-admin", "user", "rest"],
          [3, ["attributes.de"], "user-staff", "user", "rest"],
          [2, ["metadata.a", "metadata.b"], "user-staff", "user", "rest"]
        ]
      )
      assert.match(String(shown[0]?.["createdAt"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.isString(shown[0]?.["requestId"])
      const first = yield* api("GET", `${entities}/${id}/revisions/1`, { as: asStaff })
      assert.deepStrictEqual(
        [first.at("data.snapshot.metadata"), first.at("data.snapshot.attributes.en.title")],
        [{ a: 1 }, "Sock"]
      )
    }))

  it.effect("a revision is not kept where nothing was changed", () =>
    Effect.gen(function*() {
      const { id } = yield* make({ status: "active" })
      yield* patch(id, { status: "active" })
      yield* api("POST", `${entities}/${id}/publish`, { as: asAdmin })
      yield* refused("PATCH", `${entities}/${id}`, { status: "sold" }, 422)
      assert.deepStrictEqual(yield* numbersOf(id), [1])
    }))

  it.effect("revisions drop the oldest beyond a hundred", () =>
    Effect.gen(function*() {
      const { id } = yield* make({})
      for (let n = 1; n <= 103; n++) yield* patch(id, { metadata: { n } })
      const page = yield* listed(id, "?limit=100")
      assert.strictEqual(page.number("meta.pagination.total"), 100)
      assert.deepStrictEqual([page.at("data.0.number"), page.at("data.99.number")], [104, 5])
      yield* refused("GET", `${entities}/${id}/revisions/4`, undefined, 404)
    }))

  it.effect("revisions made at once are numbered one after another", () =>
    Effect.gen(function*() {
      const { id } = yield* make({})
      yield* Effect.forEach(
        Array.from({ length: 12 }, (_, n) => n),
        (n) => n % 2 === 0 ? patch(id, { metadata: { n } }) : words(id, `l${n}`, { title: `T${n}` }),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(yield* numbersOf(id), Array.from({ length: 13 }, (_, n) => 13 - n))
      const last = yield* api("GET", `${entities}/${id}/revisions/13`, { as: asStaff })
      assert.strictEqual(Object.keys(last.at("data.snapshot.attributes") as object).length, 6)
    }))

  it.effect("two revisions are compared path by path, with the one before or with any other", () =>
    Effect.gen(function*() {
      const { id } = yield* make({ attributes: titled, metadata: { a: 1, gone: true } })
      yield* patch(id, { metadata: { a: 2 } })
      yield* words(id, "en", { title: "Stocking" })
      const last = yield* api("GET", `${entities}/${id}/revisions/3/diff`, { as: asStaff })
      assert.deepStrictEqual(last.at("data"), {
        from: 2,
        to: 3,
        differences: [{ path: "attributes.en.title", before: "Sock", after: "Stocking" }]
      })
      const all = yield* api("GET", `${entities}/${id}/revisions/3/diff?from=1`, { as: asStaff })
      assert.deepStrictEqual(all.at("data.differences"), [
        { path: "attributes.en.title", before: "Sock", after: "Stocking" },
        { path: "metadata.a", before: 1, after: 2 },
        { path: "metadata.gone", before: true }
      ])
      yield* refused("GET", `${entities}/${id}/revisions/1/diff`, undefined, 404)
      yield* refused("GET", `${entities}/${id}/revisions/1/diff?from=9`, undefined, 404)
      yield* refused("GET", `${entities}/${id}/revisions/1/diff?from=x`, undefined, 422)
    }))

  it.effect("restoring brings slug, metadata, tax class and words back as one new revision; what is public stays so", () =>
    Effect.gen(function*() {
      yield* api("POST", "/api/tax/classes", { as: asAdmin, body: { name: "food", rateBps: 700, isActive: false } })
      const { id, slug } = yield* make({ status: "draft", taxClass: "food", attributes: titled, metadata: { a: 1 } })
      yield* patch(id, { slug: newId(), metadata: { b: 2 }, taxClass: null })
      yield* words(id, "en", { title: "Obsidian", description: null, subtitle: "new" })
      yield* words(id, "de", { title: "Obsidiane" })
      yield* api("POST", `${entities}/${id}/publish`, { as: asAdmin })
      assert.strictEqual((yield* searching("q=obsidian", shopper)).total, 1)
      const answer = yield* restored(id, 1)
      assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
      assert.deepStrictEqual(
        ["slug", "metadata", "taxClass", "status", "isVisible"].map((key) => answer.at(`data.${key}`)),
        [slug, { a: 1 }, "food", "active", true]
      )
      const read = yield* api("GET", `${entities}/${id}?include=attributes`, { as: shopper })
      assert.deepStrictEqual(
        read.list("data.attributes").map((one) => {
          const { description, locale, subtitle, title } = one as Record<string, unknown>
          return [locale, title, description, subtitle]
        }),
        [["en", "Sock", "warm", null]]
      )
      assert.strictEqual((yield* searching("q=obsidian", shopper)).total, 0)
      const page = yield* listed(id)
      assert.deepStrictEqual([page.at("data.0.number"), page.at("data.0.restoredFrom")], [6, 1])
      const recorded = yield* onDatabase((sql) =>
        sql<{ type: string }>`select type from outbox_events where entity_id = ${id}
          and request_id = ${answer.headers.get("x-request-id")}`
      )
      assert.deepStrictEqual(new Set(recorded.map(({ type }) => type)), new Set(["catalog.update"]))
      // What is so already is no change.
      yield* restored(id, 1)
      assert.strictEqual((yield* numbersOf(id)).length, 6)
    }))

  it.effect("restoring is refused for a slug that is taken since, an unknown revision and an unknown entity, and changes nothing", () =>
    Effect.gen(function*() {
      const { id, slug } = yield* make({ attributes: titled })
      yield* patch(id, { slug: newId(), metadata: { kept: true } })
      yield* make({ slug })
      yield* refused("POST", `${entities}/${id}/revisions/1/restore`, undefined, 409)
      const read = yield* api("GET", `${entities}/${id}`, { as: asAdmin })
      assert.deepStrictEqual(read.at("data.metadata"), { kept: true })
      yield* refused("POST", `${entities}/${id}/revisions/9/restore`, undefined, 404)
      yield* refused("POST", `${entities}/${newId()}/revisions/1/restore`, undefined, 404)
      yield* refused("GET", `${entities}/${newId()}/revisions`, undefined, 404)
      yield* refused("POST", `${entities}/${id}/revisions/0/restore`, undefined, 422)
      assert.strictEqual((yield* numbersOf(id)).length, 2)
    }))
})
