import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Catalog } from "../../src/domain/catalog/Catalog.ts"
import { CatalogReads } from "../../src/domain/catalog/CatalogReads.ts"
import { Categories } from "../../src/domain/catalog/categories/Categories.ts"
import { Variants } from "../../src/domain/catalog/variants/Variants.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { atOnce } from "../support/AtOnce.ts"
import { asShopkeeper, catalogLayer, eventsOf } from "./CatalogServices.ts"

const together = { concurrency: "unbounded" } as const

const given = Effect.gen(function*() {
  return yield* (yield* Catalog).create({ type: "product", slug: newId() })
})

const axis = (entityId: string, name: string, count: number) =>
  Effect.flatMap(
    Variants,
    (variants) =>
      variants.createOptionType(entityId, { name, values: Array.from({ length: count }, (_, n) => `${name}${n}`) })
  )

describe("at the same time", () => {
  it.layer(catalogLayer())((it) => {
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
        assert.deepStrictEqual(tags, [...Array.from({ length: 7 }, () => "Conflict/EntitySlug"), "created"])
      }).pipe(asShopkeeper))

    it.effect("two moves that would close a circle together are one move and one refusal", () =>
      Effect.gen(function*() {
        const categories = yield* Categories
        for (const round of [1, 2, 3, 4, 5]) {
          const a = yield* categories.create({ slug: `a${round}-${newId()}` })
          const b = yield* categories.create({ slug: `b${round}-${newId()}` })
          const moves = yield* Effect.all([
            Effect.result(categories.update(a.id, { parentId: b.id })),
            Effect.result(categories.update(b.id, { parentId: a.id }))
          ], together)
          assert.deepStrictEqual(moves.map((move) => move._tag).sort(), ["Failure", "Success"])
        }
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
  })
})
