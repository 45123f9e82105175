import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { api, asAdmin, theOrganization, withSharedApp } from "../support/TestApp.ts"
import { brands, categories, entities, make, refused, shopper } from "./CatalogCalls.ts"

const add = Effect.fnUntraced(function*(path: string, body: object, as = asAdmin) {
  const answer = yield* api("POST", path, { as, body })
  assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
  return answer.text("data.id")
})

const category = (body: object = {}) => add(categories, { slug: newId(), ...body })
const brand = (body: object = {}) => add(brands, { slug: newId(), displayName: "Brand", ...body })

withSharedApp("categories and brands over HTTP", (it) => {
  describe("the category list", () => {
    it.effect("the category list is whole and in order unless a page is asked for, without archived ones unless they are", () =>
      Effect.gen(function*() {
        for (const [slug, sortOrder] of [["second", 1], ["first", 1], ["zeroth", 0]] as const) {
          yield* category({ slug, sortOrder })
        }
        const gone = yield* category({ slug: "gone", sortOrder: -1 })
        yield* api("POST", `${categories}/${gone}/archive`, { as: asAdmin })
        const slugs = (query: string) =>
          Effect.map(api("GET", `${categories}${query}`, { as: shopper }), (answer) => ({
            slugs: answer.list("data").map((one) => (one as { slug: string }).slug),
            pagination: answer.at("meta.pagination")
          }))
        const whole = yield* slugs("")
        assert.deepStrictEqual(whole.slugs, ["zeroth", "first", "second"])
        assert.deepStrictEqual(whole.pagination, { page: 1, limit: 3, total: 3, totalPages: 1 })
        const page = yield* slugs("?limit=2&page=2")
        assert.deepStrictEqual(page, {
          slugs: ["second"],
          pagination: { page: 2, limit: 2, total: 3, totalPages: 2 }
        })
        assert.deepStrictEqual((yield* slugs("?includeArchived=true")).slugs[0], "gone")
        yield* api("POST", `${categories}/${gone}/restore`, { as: asAdmin })
        assert.deepStrictEqual((yield* slugs("")).slugs.length, 4)
      }))
  })

  describe("a category", () => {
    it.effect("a category is created with its defaults and without its organization, changed and deleted", () =>
      Effect.gen(function*() {
        const slug = newId()
        const made = yield* api("POST", categories, { as: asAdmin, body: { slug } })
        const id = made.text("data.id")
        const fresh = { id, parentId: null, slug, sortOrder: 0, status: "active", metadata: {} }
        assert.deepStrictEqual([made.status, made.at("data")], [201, fresh])
        const child = yield* category({ parentId: id })
        const body = { sortOrder: 5, metadata: { a: 1 } }
        const changed = yield* api("PATCH", `${categories}/${id}`, { as: asAdmin, body })
        assert.deepStrictEqual(changed.at("data"), { ...fresh, ...body })
        const gone = yield* api("DELETE", `${categories}/${id}`, { as: asAdmin })
        assert.deepStrictEqual([gone.status, gone.at("data")], [200, { deleted: true }])
        const orphan = yield* api("PATCH", `${categories}/${child}`, { as: asAdmin, body: {} })
        assert.isNull(orphan.at("data.parentId"))
      }))

    it.effect("a category cannot lie below itself, at any depth, nor below what does not exist", () =>
      Effect.gen(function*() {
        const top = yield* category()
        const middle = yield* category({ parentId: top })
        const bottom = yield* category({ parentId: middle })
        for (const parentId of [top, middle, bottom, newId()]) {
          const answer = yield* refused("PATCH", `${categories}/${top}`, { parentId }, 422, "VALIDATION_FAILED")
          assert.strictEqual(answer.at("error.details.issues.0.path"), "parentId")
        }
        const moved = yield* api("PATCH", `${categories}/${bottom}`, { as: asAdmin, body: { parentId: top } })
        assert.strictEqual(moved.at("data.parentId"), top)
        yield* refused("POST", categories, { slug: newId(), parentId: newId() }, 422, "VALIDATION_FAILED")
      }))

    it.effect("a category is refused for a slug that is taken, an unknown id, and unusable fields", () =>
      Effect.gen(function*() {
        const slug = newId()
        yield* category({ slug })
        const id = yield* category()
        yield* refused("POST", categories, { slug }, 409, "CONFLICT")
        yield* refused("PATCH", `${categories}/${id}`, { slug }, 409, "CONFLICT")
        yield* refused("PATCH", `${categories}/${newId()}`, { sortOrder: 1 }, 404, "NOT_FOUND")
        yield* refused("PATCH", `${categories}/${newId()}`, { parentId: id }, 404, "NOT_FOUND")
        yield* refused("DELETE", `${categories}/${newId()}`, undefined, 404, "NOT_FOUND")
        yield* refused("POST", `${categories}/${newId()}/archive`, undefined, 404, "NOT_FOUND")
        yield* refused("POST", categories, {}, 422, "VALIDATION_FAILED")
        yield* refused("POST", categories, { slug: newId(), sortOrder: 3_000_000_000 }, 422, "VALIDATION_FAILED")
      }))
  })

  describe("a brand", () => {
    it.effect("a brand is created, listed by display name, changed and deleted", () =>
      Effect.gen(function*() {
        const [b, a] = [yield* brand({ displayName: "B" }), yield* brand({ displayName: "A", metadata: { x: 1 } })]
        const all = yield* api("GET", brands, { as: shopper })
        const names = all.list("data").map((one) => (one as { displayName: string }).displayName)
        assert.deepStrictEqual(names, ["A", "B"])
        assert.deepStrictEqual(all.at("meta.pagination"), { page: 1, limit: 2, total: 2, totalPages: 1 })
        const paged = yield* api("GET", `${brands}?page=1`, { as: shopper })
        assert.deepStrictEqual(paged.at("meta.pagination"), { page: 1, limit: 20, total: 2, totalPages: 1 })
        const changed = yield* api("PATCH", `${brands}/${b}`, { as: asAdmin, body: { displayName: "Z" } })
        assert.deepStrictEqual([changed.at("data.displayName"), changed.at("data.organizationId")], [
          "Z",
          yield* theOrganization
        ])
        const gone = yield* api("DELETE", `${brands}/${a}`, { as: asAdmin })
        assert.deepStrictEqual(gone.at("data"), { deleted: true })
      }))

    it.effect("a brand is refused for a slug that is taken, an unknown id, and a missing name", () =>
      Effect.gen(function*() {
        const slug = newId()
        yield* brand({ slug })
        yield* refused("POST", brands, { slug, displayName: "B" }, 409, "CONFLICT")
        yield* refused("PATCH", `${brands}/${yield* brand()}`, { slug }, 409, "CONFLICT")
        yield* refused("PATCH", `${brands}/${newId()}`, {}, 404, "NOT_FOUND")
        yield* refused("DELETE", `${brands}/${newId()}`, undefined, 404, "NOT_FOUND")
        yield* refused("POST", brands, { slug: newId() }, 422, "VALIDATION_FAILED")
      }))
  })

  describe("attaching", () => {
    it.effect("attaching may be repeated and detaching may not, and neither creates an unknown record", () =>
      Effect.gen(function*() {
        const { id } = yield* make({})
        for (const [kind, target] of [["categories", yield* category()], ["brands", yield* brand()]] as const) {
          const path = `${entities}/${id}/${kind}/${target}`
          for (const _ of [1, 2]) {
            const linked = yield* api("POST", path, { as: asAdmin })
            assert.deepStrictEqual([linked.status, linked.at("data")], [200, { linked: true }])
          }
          const unlinked = yield* api("DELETE", path, { as: asAdmin })
          assert.deepStrictEqual([unlinked.status, unlinked.at("data")], [200, { unlinked: true }])
          yield* refused("DELETE", path, undefined, 404, "NOT_FOUND")
          yield* refused("POST", `${entities}/${newId()}/${kind}/${target}`, undefined, 404, "NOT_FOUND")
          const unknown = newId()
          yield* refused("POST", `${entities}/${id}/${kind}/${unknown}`, undefined, 404, "NOT_FOUND")
          const after = yield* api("GET", `/api/catalog/${kind}`, { as: asAdmin })
          assert.isFalse(after.list("data").some((one) => (one as { slug: string }).slug === unknown))
        }
      }))
  })
})
