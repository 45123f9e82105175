import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { api, asAdmin, asAnonymous, asStaff, inOrganization, withSharedApp } from "../support/TestApp.ts"
import { categories, entities, make, onDatabase, refused, shopper } from "./CatalogCalls.ts"

interface Node {
  readonly id: string
  readonly slug: string
  readonly depth: number
  readonly childCount: number
  readonly sortOrder: number
  readonly path: ReadonlyArray<{ readonly slug: string }>
}

const add = Effect.fnUntraced(function*(name: string, parentId?: string, more: object = {}) {
  const made = yield* api("POST", categories, {
    as: asAdmin,
    body: { slug: `${name}-${newId()}`, ...parentId === undefined ? {} : { parentId }, metadata: { name }, ...more }
  })
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  return { id: made.text("data.id"), slug: made.text("data.slug") }
})

/** Clothes with shirts (short, long) and shoes. */
const aTree = Effect.gen(function*() {
  const clothes = yield* add("clothes")
  const shirts = yield* add("shirts", clothes.id, { sortOrder: 1 })
  const shoes = yield* add("shoes", clothes.id, { sortOrder: 0 })
  const short = yield* add("short", shirts.id)
  const long = yield* add("long", shirts.id, { sortOrder: -5 })
  return { clothes, shirts, shoes, short, long }
})

const nameOf = (slug: string) => slug.split("-")[0] ?? ""

const subtree = (id: string, query = "") =>
  Effect.map(
    api("GET", `${categories}/${id}/subtree${query}`, { as: shopper }),
    (answer) => answer.list("data") as ReadonlyArray<Node>
  )

const childrenOf = (id: string) =>
  Effect.map(subtree(id, "?depth=1"), ([, ...nodes]) => nodes.map(({ slug }) => nameOf(slug)))

const move = (id: string, body: object) => api("POST", `${categories}/${id}/move`, { as: asStaff, body })

withSharedApp("the category tree over HTTP", (it) => {
  describe("a category", () => {
    it.effect("a category is read by id or slug with the way from the root to it", () =>
      Effect.gen(function*() {
        const { clothes, shirts, short } = yield* aTree
        for (const named of [short.id, short.slug, short.id.toUpperCase()]) {
          const answer = yield* api("GET", `${categories}/${named}`, { as: shopper })
          assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
          assert.deepStrictEqual(answer.at("data.path"), [
            { id: clothes.id, slug: clothes.slug, metadata: { name: "clothes" } },
            { id: shirts.id, slug: shirts.slug, metadata: { name: "shirts" } },
            { id: short.id, slug: short.slug, metadata: { name: "short" } }
          ])
          assert.deepStrictEqual([answer.at("data.depth"), answer.at("data.childCount")], [2, 0])
        }
        const top = yield* api("GET", `${categories}/${clothes.id}`, { as: shopper })
        assert.deepStrictEqual([top.at("data.depth"), top.at("data.childCount"), top.at("data.parentId")], [0, 2, null])
      }))

    it.effect("a category is found by a slug that looks like an id", () =>
      Effect.gen(function*() {
        const slug = newId()
        const made = yield* api("POST", categories, { as: asAdmin, body: { slug } })
        const answer = yield* api("GET", `${categories}/${slug}`, { as: shopper })
        assert.strictEqual(answer.at("data.id"), made.at("data.id"))
      }))

    it.effect("a category is not found by an unknown id or slug, nor in another organization, nor without permission", () =>
      Effect.gen(function*() {
        const { clothes } = yield* aTree
        for (const tail of ["", "/subtree"]) {
          yield* refused("GET", `${categories}/${newId()}${tail}`, undefined, 404, "NOT_FOUND")
          yield* refused("GET", `${categories}/nonsense${tail}`, undefined, 404, "NOT_FOUND")
          const outsider = inOrganization("org_x", asAdmin)
          yield* refused("GET", `${categories}/${clothes.id}${tail}`, undefined, 404, "NOT_FOUND", outsider)
          yield* refused("GET", `${categories}/${clothes.slug}${tail}`, undefined, 404, "NOT_FOUND", outsider)
          yield* refused("GET", `${categories}/${clothes.id}${tail}`, undefined, 403, "FORBIDDEN", asAnonymous)
        }
      }))
  })

  describe("a subtree", () => {
    it.effect("a subtree has parents before children and siblings in their order, as deep as asked", () =>
      Effect.gen(function*() {
        const { clothes, shirts } = yield* aTree
        const all = yield* subtree(clothes.slug)
        assert.deepStrictEqual(
          all.map(({ childCount, depth, slug }) => [nameOf(slug), depth, childCount]),
          [["clothes", 0, 2], ["shoes", 1, 0], ["shirts", 1, 2], ["long", 2, 0], ["short", 2, 0]]
        )
        assert.deepStrictEqual(all.at(-1)?.path.map(({ slug }) => nameOf(slug)), ["clothes", "shirts", "short"])
        assert.deepStrictEqual((yield* subtree(clothes.id, "?depth=0")).length, 1)
        assert.deepStrictEqual(yield* childrenOf(clothes.id), ["shoes", "shirts"])
        const below = yield* subtree(shirts.id)
        assert.deepStrictEqual(below.map(({ depth }) => depth), [1, 2, 2])
        for (const depth of ["-1", "1.5", "x", "5000"]) {
          yield* refused(
            "GET",
            `${categories}/${clothes.id}/subtree?depth=${depth}`,
            undefined,
            422,
            "VALIDATION_FAILED"
          )
        }
      }))

    it.effect("leaves archived categories out with all below them, unless they are asked for", () =>
      Effect.gen(function*() {
        const { clothes, shirts } = yield* aTree
        yield* api("POST", `${categories}/${shirts.id}/archive`, { as: asAdmin })
        assert.deepStrictEqual((yield* subtree(clothes.id)).map(({ slug }) => nameOf(slug)), ["clothes", "shoes"])
        assert.strictEqual((yield* subtree(clothes.id, "?includeArchived=true")).length, 5)
        assert.strictEqual((yield* subtree(clothes.id))[0]?.childCount, 1)
      }))
  })

  describe("a move", () => {
    it.effect("puts a category before or after a sibling, or last, and numbers them", () =>
      Effect.gen(function*() {
        const { clothes, shirts, shoes } = yield* aTree
        const hats = yield* add("hats", clothes.id, { sortOrder: 9 })
        const before = yield* move(hats.id, { before: shoes.id })
        assert.deepStrictEqual([before.status, before.at("data.sortOrder")], [200, 0])
        assert.deepStrictEqual(yield* childrenOf(clothes.id), ["hats", "shoes", "shirts"])
        yield* move(hats.id, { after: shoes.id })
        assert.deepStrictEqual(yield* childrenOf(clothes.id), ["shoes", "hats", "shirts"])
        yield* move(hats.id, {})
        assert.deepStrictEqual(yield* childrenOf(clothes.id), ["shoes", "shirts", "hats"])
        const below = yield* move(hats.id, { parentId: shirts.id })
        assert.deepStrictEqual([below.at("data.parentId"), below.at("data.depth")], [shirts.id, 2])
        assert.deepStrictEqual(yield* childrenOf(shirts.id), ["long", "short", "hats"])
        const root = yield* move(hats.id, { parentId: null })
        assert.deepStrictEqual([root.at("data.parentId"), root.at("data.depth")], [null, 0])
      }))

    it.effect("a move is refused below itself, below what is not there, beside what is no sibling, and changes nothing", () =>
      Effect.gen(function*() {
        const { clothes, shirts, shoes, short } = yield* aTree
        const was = yield* subtree(clothes.id)
        const no = (id: string, body: object, path: string) =>
          Effect.map(
            refused("POST", `${categories}/${id}/move`, body, 422, "VALIDATION_FAILED"),
            (answer) => assert.strictEqual(answer.at("error.details.issues.0.path"), path)
          )
        yield* no(clothes.id, { parentId: clothes.id }, "parentId")
        yield* no(clothes.id, { parentId: short.id }, "parentId")
        yield* no(clothes.id, { parentId: newId() }, "parentId")
        yield* no(shoes.id, { parentId: clothes.id, before: short.id }, "before")
        yield* no(shoes.id, { after: newId() }, "after")
        yield* no(shoes.id, { after: shirts.id, before: shirts.id }, "after")
        yield* no(shoes.id, { parentId: "nonsense" }, "parentId")
        yield* refused("POST", `${categories}/${newId()}/move`, {}, 404, "NOT_FOUND")
        yield* refused("POST", `${categories}/${shoes.id}/move`, {}, 403, "FORBIDDEN", shopper)
        const outsider = inOrganization("org_x", asAdmin)
        yield* refused("POST", `${categories}/${shoes.id}/move`, {}, 404, "NOT_FOUND", outsider)
        assert.deepStrictEqual(yield* subtree(clothes.id), was)
      }))

    it.effect("emits an event for every renumbered category, and for no other", () =>
      Effect.gen(function*() {
        const { clothes, shirts, shoes } = yield* aTree
        const moved = yield* move(shirts.id, { before: shoes.id })
        const recorded = yield* onDatabase((sql) =>
          sql<{ entity_id: string }>`select entity_id from outbox_events where type = 'categories.update'
            and request_id = ${moved.headers.get("x-request-id")} order by entity_id`
        )
        assert.deepStrictEqual(recorded.map((row) => row.entity_id), [shirts.id, shoes.id].toSorted())
        assert.deepStrictEqual(yield* childrenOf(clothes.id), ["shirts", "shoes"])
      }))
  })

  it.effect("a list of entities reaches into the categories below one where that is asked for", () =>
    Effect.gen(function*() {
      const { clothes, shirts, short } = yield* aTree
      const [one, two] = [yield* make({ status: "active" }), yield* make({ status: "active" })]
      yield* api("POST", `${entities}/${one.id}/categories/${short.id}`, { as: asAdmin })
      yield* api("POST", `${entities}/${one.id}/categories/${shirts.id}`, { as: asAdmin })
      yield* api("POST", `${entities}/${two.id}/categories/${clothes.id}`, { as: asAdmin })
      const found = (query: string) =>
        Effect.map(api("GET", `${entities}?${query}`, { as: shopper }), (answer) => [
          answer.list("data").map((item) => (item as { id: string }).id),
          answer.at("meta.pagination.total")
        ])
      assert.deepStrictEqual(yield* found(`category=${clothes.id}`), [[two.id], 1])
      assert.deepStrictEqual(yield* found(`category=${clothes.slug}&descendants=true`), [[two.id, one.id], 2])
      assert.deepStrictEqual(yield* found(`category=${shirts.id}&descendants=true`), [[one.id], 1])
      yield* refused("GET", `${entities}?category=nonsense&descendants=true`, undefined, 422, "VALIDATION_FAILED")
    }))
})
