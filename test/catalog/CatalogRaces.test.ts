import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Random } from "effect"
import { SqlClient } from "effect/sql"
import { Catalog } from "../../src/domain/catalog/Catalog.ts"
import { CatalogReads } from "../../src/domain/catalog/CatalogReads.ts"
import { Categories } from "../../src/domain/catalog/categories/Categories.ts"
import { Variants } from "../../src/domain/catalog/variants/Variants.ts"
import { CategoryId, type EntityId, newId } from "../../src/domain/platform/ids/Id.ts"
import { atOnce, waiting } from "../support/AtOnce.ts"
import { asShopkeeper, catalogLayer, eventsOf } from "./CatalogServices.ts"

const together = { concurrency: "unbounded" } as const

const given = Effect.flatMap(Catalog, (catalog) => catalog.create({ type: "product", slug: newId() }))

const axis = (entityId: EntityId, name: string, count: number) =>
  Effect.flatMap(
    Variants,
    (variants) =>
      variants.createOptionType(entityId, { name, values: Array.from({ length: count }, (_, n) => `${name}${n}`) })
  )

/** What the second effect comes to, which began after the first one wrote, and before that was committed. */
const whileOpen = Effect.fnUntraced(
  function*<A, E, R, A2, E2, R2>(first: Effect.Effect<A, E, R>, second: Effect.Effect<A2, E2, R2>) {
    const sql = yield* SqlClient.SqlClient
    const [written, commit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const open = yield* Effect.forkChild(sql.withTransaction(first.pipe(
      Effect.andThen(Deferred.succeed(written, undefined)),
      Effect.andThen(Deferred.await(commit))
    )))
    yield* Deferred.await(written)
    const waits = yield* Effect.forkChild(Effect.flip(second))
    yield* waiting(1)
    yield* Deferred.succeed(commit, undefined)
    yield* Fiber.join(open)
    return yield* Fiber.join(waits)
  }
)

interface Tagged {
  readonly _tag: string
}

/** The failure of a write whose row is deleted after the write began and before it is done. */
const whileDeleting = <A, E extends Tagged, R>(
  table: string,
  id: string,
  write: Effect.Effect<A, E, R>
) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => Effect.map(whileOpen(sql`delete from ${sql(table)} where id = ${id}::uuid`, write), ({ _tag }) => _tag)
  )

interface Row {
  readonly id: string
  readonly slug: string
  readonly parent_id: string | null
  readonly sort_order: number
}

const category = (parentId?: CategoryId) =>
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
  const one = Effect.map(Random.next, (share) => CategoryId.make(ids[Math.floor(share * ids.length)] ?? ""))
  const [id, parentId, beside] = [yield* one, yield* one, yield* one]
  const kind = Math.floor((yield* Random.next) * 10)
  const change = kind < 4
    ? categories.move(id, { parentId: parentId })
    : kind < 5
    ? categories.move(id, { before: beside })
    : kind < 6
    ? categories.move(id, { parentId: parentId, after: beside })
    : kind < 8
    ? categories.update(id, { parentId: parentId })
    : kind < 9
    ? categories.update(id, { parentId: null, sortOrder: kind })
    : categories.remove(id)
  yield* Effect.ignore(change)
})

it.layer(catalogLayer())("the catalog under concurrent writes", (it) => {
  it.effect("six writers of one locale leave one row with every field that one of them gave", () =>
    Effect.gen(function*() {
      const [catalog, reads, sql] = [yield* Catalog, yield* CatalogReads, yield* SqlClient.SqlClient]
      const { id } = yield* given
      const fields = ["subtitle", "description", "seoTitle", "seoDescription"] as const
      yield* Effect.forEach(
        [0, 1, 2, 3, 4, 5],
        (n) => catalog.setAttributes(id, "en", { title: "Same", [fields[n % 4] ?? "subtitle"]: `text ${n % 4}` }),
        together
      )
      const rows = yield* sql`select 1 from entity_attributes where entity_id = ${id}::uuid`
      assert.strictEqual(rows.length, 1)
      const words = yield* reads.attributes(id, "en")
      assert.deepStrictEqual(fields.map((field) => words[field]), ["text 0", "text 1", "text 2", "text 3"])
      const recorded = yield* sql<{ before: unknown; after: unknown }>`select before->'attributes' as before,
        payload->'attributes' as after from outbox_events where entity_id = ${id} and type = 'catalog.update'
        order by entry_number`
      assert.deepStrictEqual(recorded.map(({ before }) => before), [
        [],
        ...recorded.slice(0, -1).map(({ after }) => after)
      ])
    }).pipe(asShopkeeper))

  it.effect("words that another request writes in that moment are what an entry says was before", () =>
    Effect.gen(function*() {
      const [catalog, sql] = [yield* Catalog, yield* SqlClient.SqlClient]
      const { id, organizationId } = yield* given
      yield* atOnce(
        () =>
          sql`insert into entity_attributes (id, organization_id, entity_id, locale, title)
            values (gen_random_uuid(), ${organizationId}, ${id}::uuid, 'de', 'first')`,
        [catalog.setAttributes(id, "de", { title: "second" })]
      )
      yield* atOnce(
        () => sql`update entity_attributes set title = 'third' where entity_id = ${id}::uuid`,
        [catalog.setAttributes(id, "de", { title: "fourth" })]
      )
      const recorded = yield* sql<{ before: string }>`select before #>> '{attributes,0,title}' as before
        from outbox_events where entity_id = ${id} and type = 'catalog.update' order by entry_number`
      assert.deepStrictEqual(recorded.map(({ before }) => before), ["first", "third"])
    }).pipe(asShopkeeper))

  it.effect("two generations make each combination once and answer with what each of them made", () =>
    Effect.gen(function*() {
      const [variants, sql] = [yield* Variants, yield* SqlClient.SqlClient]
      const { id } = yield* given
      yield* axis(id, "size", 10)
      yield* axis(id, "color", 10)
      const answers = yield* Effect.forEach([1, 2, 3, 4], () => variants.generate(id, { mode: "all" }), together)
      const made = answers.flat()
      assert.strictEqual(made.length, 100)
      assert.strictEqual(new Set(made.map((variant) => variant.optionValueIds.toSorted().join())).size, 100)
      const rows = yield* sql<{ links: number }>`select count(o.option_value_id)::int as links from variants v
        join variant_option_values o on o.variant_id = v.id where v.entity_id = ${id}::uuid group by v.id`
      assert.deepStrictEqual([rows.length, new Set(rows.map((row) => row.links))], [100, new Set([2])])
    }).pipe(asShopkeeper))

  it.effect("eight creators of one slug are one creator and seven conflicts", () =>
    Effect.gen(function*() {
      const catalog = yield* Catalog
      const slug = newId()
      const answers = yield* Effect.forEach(
        Array.from({ length: 8 }),
        () => Effect.flip(Effect.asVoid(catalog.create({ type: "product", slug }))).pipe(Effect.option),
        together
      )
      const tags = answers.map((answer) => answer._tag === "Some" ? answer.value._tag : "created").sort()
      assert.deepStrictEqual(tags, [...Array.from({ length: 7 }, () => "Conflict/EntitySlugTaken"), "created"])
    }).pipe(asShopkeeper))

  it.effect("many writers keep the totals of lists exact", () =>
    Effect.gen(function*() {
      const [catalog, reads, sql] = [yield* Catalog, yield* CatalogReads, yield* SqlClient.SqlClient]
      yield* Effect.forEach(Array.from({ length: 40 }, (_, n) => n), (n) =>
        Effect.gen(function*() {
          const status = n % 2 === 0 ? "active" : "draft"
          const { id } = yield* catalog.create({ type: `kind${n % 3}`, slug: newId(), status })
          if (n % 4 === 0) yield* catalog.archive(id)
          if (n % 5 === 0) yield* catalog.publish(id)
          if (n % 7 === 0) yield* catalog.remove(id)
        }), { concurrency: 8 })
      const query = { page: 1, limit: 1, include: [], sort: { field: "createdAt", ascending: false } } as const
      for (const status of [undefined, "active", "draft", "archived"]) {
        for (const type of [undefined, "kind0", "kind1"]) {
          const counted = yield* sql<{ n: number }>`select count(*)::int as n from catalog_entities
            where (${status}::text is null or status = ${status}) and (${type}::text is null or type = ${type})`
          const page = yield* reads.list({ ...query, status, type })
          assert.strictEqual(page.total, counted[0]?.n, `${status} ${type}`)
        }
      }
    }).pipe(asShopkeeper))

  it.effect("a change and its event are one: a refused change announces nothing", () =>
    Effect.gen(function*() {
      const catalog = yield* Catalog
      const [first, second] = [yield* given, yield* given]
      yield* Effect.flip(catalog.update(second.id, { slug: first.slug }))
      yield* catalog.setAttributes(second.id, "en", { title: "Sock" })
      yield* catalog.setAttributes(second.id, "en", { title: "Sock" })
      yield* catalog.publish(second.id)
      yield* catalog.remove(second.id)
      const events = yield* eventsOf(second.id)
      assert.deepStrictEqual(events.map((event) => event.type), [
        "catalog.create",
        "catalog.update",
        "catalog.update",
        "catalog.delete"
      ])
      assert.strictEqual(events[2]?.payload["status"], "active")
      assert.match(String(events[2]?.payload["publishedAt"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }).pipe(asShopkeeper))

  it.effect("no part of an entity that is deleted in the same moment is written: words, options, values, variants", () =>
    Effect.gen(function*() {
      const [catalog, variants] = [yield* Catalog, yield* Variants]
      const failures = []
      for (const part of ["words", "option", "variant", "variants", "value"] as const) {
        const { id } = yield* given
        const size = yield* variants.createOptionType(id, { name: "Size", values: ["S", "M"] })
        const gone = <A, E extends Tagged, R>(write: Effect.Effect<A, E, R>) =>
          whileDeleting("catalog_entities", id, write)
        const writes = {
          words: gone(catalog.setAttributes(id, "de", { title: "Hemd" })),
          option: gone(variants.createOptionType(id, { name: "Color", values: ["b"] })),
          variant: gone(variants.create(id, { options: { Size: "S" } })),
          variants: gone(variants.generate(id, { mode: "all" })),
          value: gone(variants.createOptionValue(size.id, "L"))
        }
        failures.push(yield* writes[part])
      }
      const noEntity = "NotFound/CatalogEntity"
      assert.deepStrictEqual(failures, [noEntity, noEntity, noEntity, noEntity, "NotFound/OptionType"])
    }).pipe(asShopkeeper))

  it.effect("no category comes to lie below one that is deleted in the same moment, be it new, changed or moved", () =>
    Effect.gen(function*() {
      const { create, move, update } = yield* Categories
      const child = yield* category()
      const failures = []
      for (const way of ["new", "changed", "moved"] as const) {
        const { id: parentId } = yield* category()
        const gone = <A, E extends Tagged, R>(write: Effect.Effect<A, E, R>) =>
          whileDeleting("categories", parentId, write)
        const writes = {
          new: gone(create({ slug: newId(), parentId })),
          changed: gone(update(child.id, { parentId })),
          moved: gone(move(child.id, { parentId }))
        }
        failures.push(yield* writes[way])
      }
      assert.deepStrictEqual(new Set(failures), new Set(["ValidationFailed/Parent"]))
    }).pipe(asShopkeeper))

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
        }).pipe(asShopkeeper, Random.withSeed(seed))
    )
  }

  it.effect("the tree is guarded by the database: of two statements that close a circle together the second is refused", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [a, b] = [yield* category(), yield* category()]
      const put = (id: string, parent: string) =>
        sql`update categories set parent_id = ${parent}::uuid where id = ${id}::uuid`
      assert.strictEqual((yield* whileOpen(put(a.id, b.id), put(b.id, a.id))).reason._tag, "ConstraintError")
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
})
