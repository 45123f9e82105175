import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { api, asAdmin, asStaff, inOrganization, theOrganization, withSharedApp } from "../support/TestApp.ts"
import { brands, categories, created, each, entities, make, onDatabase, refused, shopper } from "./CatalogCalls.ts"

const add = (path: string, body: object) => Effect.map(created(path, body), (answer) => answer.text("data.id"))
const category = (body: object = {}) => add(categories, { slug: newId(), ...body })
const brand = (body: object = {}) => add(brands, { slug: newId(), displayName: "Brand", ...body })

interface Node {
  readonly id: string
  readonly slug: string
  readonly depth: number
  readonly childCount: number
  readonly sortOrder: number
  readonly path: ReadonlyArray<{ readonly slug: string }>
}

const named = Effect.fnUntraced(function*(name: string, parentId?: string, more: object = {}) {
  const body = {
    slug: `${name}-${newId()}`,
    ...parentId === undefined ? {} : { parentId },
    metadata: { name },
    ...more
  }
  const made = yield* created(categories, body)
  return { id: made.text("data.id"), slug: made.text("data.slug") }
})

/** Clothes with shirts (short, long) and shoes. */
const aTree = Effect.gen(function*() {
  const clothes = yield* named("clothes")
  const shirts = yield* named("shirts", clothes.id, { sortOrder: 1 })
  const shoes = yield* named("shoes", clothes.id, { sortOrder: 0 })
  const short = yield* named("short", shirts.id)
  const long = yield* named("long", shirts.id, { sortOrder: -5 })
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

withSharedApp("categories and brands over HTTP", (it) => {
  it.effect("the category list is whole and in order unless a page is asked for, without archived ones unless they are", () =>
    Effect.gen(function*() {
      for (const [slug, sortOrder] of [["second", 1], ["first", 1], ["zeroth", 0]] as const) {
        yield* category({ slug, sortOrder })
      }
      const gone = yield* category({ slug: "gone", sortOrder: -1 })
      yield* api("POST", `${categories}/${gone}/archive`, { as: asAdmin })
      const slugs = (query: string) =>
        Effect.map(api("GET", `${categories}${query}`, { as: shopper }), (answer) => ({
          slugs: each(answer, "slug"),
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
        const answer = yield* refused("PATCH", `${categories}/${top}`, { parentId }, 422)
        assert.strictEqual(answer.at("error.details.issues.0.path"), "parentId")
      }
      const moved = yield* api("PATCH", `${categories}/${bottom}`, { as: asAdmin, body: { parentId: top } })
      assert.strictEqual(moved.at("data.parentId"), top)
      yield* refused("POST", categories, { slug: newId(), parentId: newId() }, 422)
    }))

  it.effect("a category is refused for a slug that is taken, an unknown id, and unusable fields", () =>
    Effect.gen(function*() {
      const slug = newId()
      yield* category({ slug })
      const id = yield* category()
      yield* refused("POST", categories, { slug }, 409)
      yield* refused("PATCH", `${categories}/${id}`, { slug }, 409)
      yield* refused("PATCH", `${categories}/${newId()}`, { sortOrder: 1 }, 404)
      yield* refused("PATCH", `${categories}/${newId()}`, { parentId: id }, 404)
      yield* refused("DELETE", `${categories}/${newId()}`, undefined, 404)
      yield* refused("POST", `${categories}/${newId()}/archive`, undefined, 404)
      yield* refused("POST", categories, {}, 422)
      yield* refused("POST", categories, { slug: newId(), sortOrder: 3_000_000_000 }, 422)
    }))

  it.effect("a brand is created, listed by display name, changed and deleted", () =>
    Effect.gen(function*() {
      const [b, a] = [yield* brand({ displayName: "B" }), yield* brand({ displayName: "A", metadata: { x: 1 } })]
      const all = yield* api("GET", brands, { as: shopper })
      const names = each(all, "displayName")
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
      yield* refused("POST", brands, { slug, displayName: "B" }, 409)
      yield* refused("PATCH", `${brands}/${yield* brand()}`, { slug }, 409)
      yield* refused("PATCH", `${brands}/${newId()}`, {}, 404)
      yield* refused("DELETE", `${brands}/${newId()}`, undefined, 404)
      yield* refused("POST", brands, { slug: newId() }, 422)
    }))

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
        yield* refused("DELETE", path, undefined, 404)
        yield* refused("POST", `${entities}/${newId()}/${kind}/${target}`, undefined, 404)
        const unknown = newId()
        yield* refused("POST", `${entities}/${id}/${kind}/${unknown}`, undefined, 404)
        const after = yield* api("GET", `/api/catalog/${kind}`, { as: asAdmin })
        assert.isFalse(after.list("data").some((one) => (one as { slug: string }).slug === unknown))
      }
    }))

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

  it.effect("a category is not found by an unknown id or slug, nor in another organization", () =>
    Effect.gen(function*() {
      const { clothes } = yield* aTree
      for (const tail of ["", "/subtree"]) {
        yield* refused("GET", `${categories}/${newId()}${tail}`, undefined, 404)
        yield* refused("GET", `${categories}/nonsense${tail}`, undefined, 404)
        const outsider = inOrganization("org_x", asAdmin)
        yield* refused("GET", `${categories}/${clothes.id}${tail}`, undefined, 404, outsider)
        yield* refused("GET", `${categories}/${clothes.slug}${tail}`, undefined, 404, outsider)
      }
    }))

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
        yield* refused("GET", `${categories}/${clothes.id}/subtree?depth=${depth}`, undefined, 422)
      }
    }))

  it.effect("a subtree leaves archived categories out with all below them, unless they are asked for", () =>
    Effect.gen(function*() {
      const { clothes, shirts } = yield* aTree
      yield* api("POST", `${categories}/${shirts.id}/archive`, { as: asAdmin })
      assert.deepStrictEqual((yield* subtree(clothes.id)).map(({ slug }) => nameOf(slug)), ["clothes", "shoes"])
      assert.strictEqual((yield* subtree(clothes.id, "?includeArchived=true")).length, 5)
      assert.strictEqual((yield* subtree(clothes.id))[0]?.childCount, 1)
    }))

  it.effect("a move puts a category before or after a sibling, or last, and numbers them", () =>
    Effect.gen(function*() {
      const { clothes, shirts, shoes } = yield* aTree
      const hats = yield* named("hats", clothes.id, { sortOrder: 9 })
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
          refused("POST", `${categories}/${id}/move`, body, 422),
          (answer) => assert.strictEqual(answer.at("error.details.issues.0.path"), path)
        )
      yield* no(clothes.id, { parentId: clothes.id }, "parentId")
      yield* no(clothes.id, { parentId: short.id }, "parentId")
      yield* no(clothes.id, { parentId: newId() }, "parentId")
      yield* no(shoes.id, { parentId: clothes.id, before: short.id }, "before")
      yield* no(shoes.id, { after: newId() }, "after")
      yield* no(shoes.id, { after: shirts.id, before: shirts.id }, "after")
      yield* no(shoes.id, { parentId: "nonsense" }, "parentId")
      yield* refused("POST", `${categories}/${newId()}/move`, {}, 404)
      const outsider = inOrganization("org_x", asAdmin)
      yield* refused("POST", `${categories}/${shoes.id}/move`, {}, 404, outsider)
      assert.deepStrictEqual(yield* subtree(clothes.id), was)
    }))

  it.effect("a move emits an event for every renumbered category, and for no other", () =>
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

  it.effect("a list of entities reaches into the categories below one where that is asked for", () =>
    Effect.gen(function*() {
      const { clothes, shirts, short } = yield* aTree
      const [one, two] = [yield* make({ status: "active" }), yield* make({ status: "active" })]
      yield* api("POST", `${entities}/${one.id}/categories/${short.id}`, { as: asAdmin })
      yield* api("POST", `${entities}/${one.id}/categories/${shirts.id}`, { as: asAdmin })
      yield* api("POST", `${entities}/${two.id}/categories/${clothes.id}`, { as: asAdmin })
      const found = (query: string) =>
        Effect.map(api("GET", `${entities}?${query}`, { as: shopper }), (answer) => [
          each(answer, "id"),
          answer.at("meta.pagination.total")
        ])
      assert.deepStrictEqual(yield* found(`category=${clothes.id}`), [[two.id], 1])
      assert.deepStrictEqual(yield* found(`category=${clothes.slug}&descendants=true`), [[two.id, one.id], 2])
      assert.deepStrictEqual(yield* found(`category=${shirts.id}&descendants=true`), [[one.id], 1])
      yield* refused("GET", `${entities}?category=nonsense&descendants=true`, undefined, 422)
    }))
})
