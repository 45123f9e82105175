import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Catalog, Drafts } from "../../src/domain/catalog/Catalog.ts"
import { CatalogReads } from "../../src/domain/catalog/CatalogReads.ts"
import { Categories } from "../../src/domain/catalog/categories/Categories.ts"
import { FieldDefinitions } from "../../src/domain/catalog/fields/FieldDefinitions.ts"
import { RevisionRepo } from "../../src/domain/catalog/revisions/RevisionRepo.ts"
import { Revisions } from "../../src/domain/catalog/revisions/Revisions.ts"
import { Schedules } from "../../src/domain/catalog/schedules/Schedules.ts"
import { type CategoryId, EntityId, type FieldDefinitionId, newId } from "../../src/domain/platform/ids/Id.ts"
import { plansOf, statementsOf } from "../pricing/Statements.ts"
import { inBulk } from "../support/InBulk.ts"
import { asShopkeeper, asShopper, catalogLayer } from "./CatalogServices.ts"

/** 20,000 entities with revisions, drafts, schedules and values of fields, and 20,000 categories, ten below each. */
const seedMany = inBulk(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into organizations (id, slug, name) values ('org_other', 'other', 'Other')`
  yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
    select md5('e' || n)::uuid, case n % 2 when 0 then 'org_default' else 'org_other' end,
      case n % 4 when 0 then 'product' else 'download' end, 'p-' || n, 'active', true from generate_series(1, 20000) n`
  yield* sql`insert into entity_attributes (id, organization_id, entity_id, locale, title)
    select gen_random_uuid(), organization_id, id, l, slug from catalog_entities, unnest(array['en', 'de']) l`
  yield* sql`insert into entity_attribute_drafts (id, organization_id, entity_id, locale, changes, proposed_at)
    select gen_random_uuid(), organization_id, id, 'fr', '{"title": "T"}', now() - n * interval '1 second'
    from (select *, row_number() over () as n from catalog_entities) e`
  yield* sql`insert into entity_schedules (entity_id, organization_id, publish_at, unpublish_at)
    select id, organization_id, now() + n * interval '1 minute', now() + (n + 50) * interval '1 minute'
    from (select *, row_number() over () as n from catalog_entities) e`
  yield* sql`with e as materialized (
      select organization_id, id, entity_snapshot(id) as snapshot from catalog_entities)
    insert into entity_revisions (organization_id, entity_id, number, snapshot, source, superseded_at)
    select organization_id, id, n, snapshot, 'rest', case when n < 3 then now() - n * interval '1 day' end
    from e, generate_series(1, 3) n`
  yield* sql`insert into entity_field_schemas (organization_id, entity_type) values ('org_default', 'product')`
  yield* sql`insert into entity_field_definitions (id, organization_id, entity_type, name, label, kind, is_required,
      is_unique, is_filterable, is_public, rules)
    select md5('d' || n)::uuid, 'org_default', 'product', 'f' || n, 'F', 'number', false, n = 1, false, true, '{}'
    from generate_series(1, 20) n`
  yield* sql`insert into entity_field_values (organization_id, entity_id, definition_id, value, unique_key)
    select e.organization_id, e.id, d.id, to_jsonb(substr(e.slug, 3)::int), case when d.is_unique then e.slug end
    from catalog_entities e, entity_field_definitions d where e.organization_id = 'org_default' and e.type = 'product'`
  yield* sql`insert into categories (id, organization_id, slug, parent_id, sort_order)
    select md5('c' || n)::uuid, case when n <= 18000 then 'org_default' else 'org_other' end, 'c-' || n,
      case when n between 11 and 18000 then md5('c' || (n / 10))::uuid end, n % 10
    from generate_series(1, 20000) n`
  yield* sql`insert into entity_categories (organization_id, entity_id, category_id)
    select 'org_default', e.id, c.id from catalog_entities e join categories c on c.slug = 'c' || substr(e.slug, 2)
    where e.organization_id = 'org_default' and c.organization_id = 'org_default'`
  yield* sql`analyze`
}))

/** Plans of what an effect sends, of which none goes through a table of size. */
const plans = Effect.fnUntraced(function*<A, E, R>(count: number, effect: Effect.Effect<A, E, R>) {
  const found = yield* plansOf(effect)
  assert.strictEqual(found.length, count, found.join("\n\n"))
  for (const plan of found) {
    assert.notMatch(plan, /Seq Scan on (?!catalog_totals|entity_field_definitions|entity_field_schemas)/, plan)
  }
  return found.join("\n")
})

const entity = (sql: SqlClient.SqlClient, n: number) =>
  Effect.map(sql<{ id: string }>`select md5('e' || ${n}::int4)::uuid as id`, ([row]) => row?.id ?? "")

it.layer(catalogLayer())("among 20,000 entities and categories", (it) => {
  it.effect("a category, its descendants and its entities are found by indexes", () =>
    Effect.gen(function*() {
      yield* seedMany
      const [categories, reads] = [yield* Categories, yield* CatalogReads]
      assert.strictEqual((yield* categories.get("c-17777")).depth, 4)
      const found = yield* plans(1, categories.get("c-17777"))
      assert.include(found, "categories_organization_id_slug_key")
      assert.include(yield* plans(1, categories.subtree("c-17", { includeArchived: false })), "categories_")
      assert.strictEqual((yield* categories.subtree("c-17", { includeArchived: false })).length, 1111)
      const query = { page: 1, limit: 20, include: [], sort: { field: "createdAt", ascending: false } } as const
      const below = reads.list({ ...query, category: "c-170", descendants: true })
      assert.include(yield* plans(2, below), "entity_categories_")
      assert.strictEqual((yield* below).total, 56)
    }).pipe(asShopkeeper))

  it.effect("a move looks at the siblings and what is above them", () =>
    Effect.gen(function*() {
      const [categories, sql] = [yield* Categories, yield* SqlClient.SqlClient]
      const [one, two] = yield* sql<{ id: CategoryId }>`select id from categories where slug in ('c-1711', 'c-1712')`
      if (one === undefined || two === undefined) return assert.fail("no siblings")
      const moved = categories.move(one.id, { after: two.id })
      assert.isAtMost((yield* statementsOf(moved)).length, 7)
      yield* plans(7, categories.move(two.id, { after: one.id }))
    }).pipe(asShopkeeper))

  it.effect("revisions are listed, read and removed by their keys", () =>
    Effect.gen(function*() {
      const [revisions, sql] = [yield* Revisions, yield* SqlClient.SqlClient]
      const id = yield* entity(sql, 4)
      const listed = yield* plans(1, revisions.list(EntityId.make(id), { page: 1, limit: 20 }))
      assert.include(listed, "entity_revisions_pkey")
      assert.include(yield* plans(1, revisions.get(EntityId.make(id), 2)), "entity_revisions_pkey")
      const repo = yield* RevisionRepo
      assert.include(yield* plans(1, repo.purge(1000, 100)), "entity_revisions_superseded")
      assert.strictEqual(yield* repo.purge(1000, 100), 0)
      assert.strictEqual(yield* repo.purge(1000, 1), 1000)
    }).pipe(asShopkeeper))

  it.effect("words of a chain, with drafts or without, are one look-up", () =>
    Effect.gen(function*() {
      const [reads, sql] = [yield* CatalogReads, yield* SqlClient.SqlClient]
      const id = yield* entity(sql, 4)
      const read = reads.attributes(EntityId.make(id), "fr-CH", { fallback: true })
      assert.include(yield* plans(1, asShopkeeper(read)), "entity_attribute_drafts_pkey")
      yield* plans(1, asShopper(read))
      const sort = { field: "createdAt", ascending: false } as const
      const query = { page: 1, limit: 100, include: ["attributes"], sort } as const
      yield* plans(1, asShopper(reads.list({ ...query, locale: "de-CH" })))
      yield* plans(1, asShopkeeper(reads.list({ ...query, locale: "fr" })))
      // What shoppers read without naming a locale looks at no draft at all.
      assert.notInclude(yield* plans(1, asShopper(reads.list(query))), "drafts")
    }))

  it.effect("drafts that wait, and what is due, are read from the front of an index", () =>
    Effect.gen(function*() {
      const drafts = yield* Drafts
      const found = yield* plansOf(drafts.list({ page: 1, limit: 20 }))
      assert.include(found[0] ?? "", "entity_attribute_drafts_queue")
      const schedules = yield* Schedules
      const due = yield* plans(1, schedules.runDue)
      for (const index of ["entity_schedules_publish", "entity_schedules_unpublish"]) assert.include(due, index)
    }).pipe(asShopkeeper))

  it.effect("fields are written with a fixed number of statements, and only where there are any", () =>
    Effect.gen(function*() {
      const [catalog, sql] = [yield* Catalog, yield* SqlClient.SqlClient]
      const id = yield* entity(sql, 4)
      const written = yield* plans(5, catalog.update(EntityId.make(id), { customFields: { f2: 5, f3: null } }))
      for (const index of ["entity_field_values_pkey"]) assert.include(written, index)
      yield* plans(1, catalog.update(EntityId.make(id), { metadata: { a: 1 } }))
      yield* plans(2, catalog.create({ type: "plain", slug: "a-plain-one" }))
      assert.strictEqual(
        (yield* statementsOf(catalog.create({ type: "product", slug: "a-full-one", customFields: { f1: 3 } })))
          .length,
        3
      )
    }).pipe(asShopkeeper))

  it.effect("a change of a definition goes through the values of its field alone", () =>
    Effect.gen(function*() {
      const [fields, sql] = [yield* FieldDefinitions, yield* SqlClient.SqlClient]
      const [field] = yield* sql<{ id: FieldDefinitionId }>`select md5('d3')::uuid as id`
      const found = yield* plansOf(fields.update(field?.id ?? newId(), { rules: { maximum: 1_000_000 } }))
      assert.include(found.join("\n"), "entity_field_values_definition")
      assert.notMatch(found.join("\n"), /Seq Scan on entity_field_values/)
    }).pipe(asShopkeeper))
})
