import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Random } from "effect"
import { SqlClient } from "effect/sql"
import { Categories } from "../../src/domain/catalog/categories/Categories.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { waiting } from "../support/AtOnce.ts"
import { asShopkeeper, catalogLayer } from "./CatalogServices.ts"

interface Row {
  readonly id: string
  readonly slug: string
  readonly parent_id: string | null
  readonly sort_order: number
}

const category = (parentId?: string) =>
  Effect.flatMap(
    Categories,
    (categories) => categories.create({ slug: newId(), ...parentId === undefined ? {} : { parentId } })
  )

const rows = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<Row>`select id, slug, parent_id, sort_order from categories order by sort_order, slug`
)

/** The way to a category as the rows say it; the test fails where it never ends. */
const wayTo = (all: ReadonlyMap<string, Row>, id: string): ReadonlyArray<string> => {
  const way: Array<string> = []
  for (let at = all.get(id); at !== undefined; at = at.parent_id === null ? undefined : all.get(at.parent_id)) {
    assert.isFalse(way.includes(at.id), "a circle")
    way.unshift(at.id)
  }
  return way
}

/** Each parent before its children, in the order of the rows. */
const inOrder = (all: ReadonlyArray<Row>, id: string): ReadonlyArray<string> => [
  id,
  ...all.filter((row) => row.parent_id === id).flatMap((row) => inOrder(all, row.id))
]

/** A random change of the tree; what it is refused with does not matter. */
const anyChange = Effect.fnUntraced(function*(ids: ReadonlyArray<string>) {
  const categories = yield* Categories
  const one = Effect.map(Random.next, (share) => ids[Math.floor(share * ids.length)] ?? "")
  const [id, parentId, beside] = [yield* one, yield* one, yield* one]
  const kind = Math.floor((yield* Random.next) * 10)
  const change = kind < 4
    ? categories.move(id, { parentId })
    : kind < 5
    ? categories.move(id, { before: beside })
    : kind < 6
    ? categories.move(id, { parentId, after: beside })
    : kind < 8
    ? categories.update(id, { parentId })
    : kind < 9
    ? categories.update(id, { parentId: null, sortOrder: kind })
    : categories.remove(id)
  yield* Effect.ignore(change)
})

describe("the tree", () => {
  it.layer(catalogLayer())((it) => {
    for (const seed of ["oak", "elm", "fir"]) {
      it.effect(
        `the category tree has no cycle and complete paths after concurrent moves (${seed})`,
        () =>
          Effect.gen(function*() {
            const categories = yield* Categories
            const made = yield* Effect.forEach(Array.from({ length: 14 }), () => category())
            const ids = made.map(({ id }) => id)
            for (const _ of [1, 2, 3, 4]) {
              yield* Effect.forEach(Array.from({ length: 24 }), () => anyChange(ids), { concurrency: 8 })
              const all = yield* rows
              const byId = new Map(all.map((row) => [row.id, row]))
              for (const { id, parent_id } of all) {
                const way = wayTo(byId, id)
                const placed = yield* categories.get(id)
                assert.deepStrictEqual(placed.path.map((step) => step.id), way)
                assert.strictEqual(placed.depth, way.length - 1)
                if (parent_id !== null) continue
                const nodes = yield* categories.subtree(id, { includeArchived: true })
                assert.deepStrictEqual(nodes.map((node) => node.id), inOrder(all, id))
                for (const node of nodes) assert.deepStrictEqual(node.path.map((step) => step.id), wayTo(byId, node.id))
              }
            }
          }).pipe(asShopkeeper, Random.withSeed(seed)),
        60_000
      )
    }

    it.effect("the tree is guarded by the database: of two statements that close a circle together the second is refused", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [a, b] = [yield* category(), yield* category()]
        const put = (id: string, parent: string) =>
          sql`update categories set parent_id = ${parent}::uuid where id = ${id}::uuid`
        const [moved, commit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const first = yield* Effect.forkChild(sql.withTransaction(
          put(a.id, b.id).pipe(
            Effect.andThen(Deferred.succeed(moved, undefined)),
            Effect.andThen(Deferred.await(commit))
          )
        ))
        yield* Deferred.await(moved)
        const second = yield* Effect.forkChild(Effect.flip(put(b.id, a.id)))
        yield* waiting(1)
        yield* Deferred.succeed(commit, undefined)
        yield* Fiber.join(first)
        assert.strictEqual((yield* Fiber.join(second)).reason._tag, "ConstraintError")
      }).pipe(asShopkeeper))

    it.effect("the tree is guarded by the database: neither itself nor another organization's category is a parent", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [a, b] = [yield* category(), yield* category()]
        yield* sql`insert into organizations (id, slug, name) values ('org_tree', 'tree', 'Tree')`
        const theirs = newId()
        yield* sql`insert into categories (id, organization_id, slug) values (${theirs}::uuid, 'org_tree', 't')`
        const refused = (statement: Effect.Effect<unknown, { readonly reason: { readonly _tag: string } }>) =>
          Effect.map(Effect.flip(statement), (error) => assert.strictEqual(error.reason._tag, "ConstraintError"))
        yield* refused(sql`update categories set parent_id = id where id = ${a.id}::uuid`)
        yield* refused(sql`update categories set parent_id = ${theirs}::uuid where id = ${a.id}::uuid`)
        yield* refused(sql`insert into categories (id, organization_id, slug, parent_id)
          values (${newId()}::uuid, 'org_default', 'x', ${theirs}::uuid)`)
        const [one, two] = [newId(), newId()]
        yield* refused(sql`with first as (insert into categories (id, organization_id, slug, parent_id)
            values (${one}::uuid, 'org_default', 'one', ${a.id}::uuid) returning id)
          update categories set parent_id = case id when ${a.id}::uuid then ${b.id}::uuid else ${a.id}::uuid end
            where id in (${a.id}::uuid, ${b.id}::uuid)`)
        assert.isFalse((yield* rows).some(({ id, parent_id }) => id === one || id === two || parent_id === theirs))
      }).pipe(asShopkeeper))

    it.effect("the tree is not left with a child of a category that is deleted while it moves there", () =>
      Effect.gen(function*() {
        const categories = yield* Categories
        for (const _ of [1, 2, 3, 4, 5]) {
          const [parent, child] = [yield* category(), yield* category()]
          yield* Effect.all([
            Effect.ignore(categories.move(child.id, { parentId: parent.id })),
            categories.remove(parent.id)
          ], { concurrency: "unbounded" })
          assert.isNull((yield* categories.get(child.id)).parentId)
        }
      }).pipe(asShopkeeper))
  })
})
