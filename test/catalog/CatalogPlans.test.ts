import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CatalogReads } from "../../src/domain/catalog/CatalogReads.ts"
import { type Include, includesOf } from "../../src/domain/catalog/EntityView.ts"
import { plansOf, statementsOf } from "../pricing/Statements.ts"
import { inBulk } from "../support/InBulk.ts"
import { asShopkeeper, asShopper, catalogLayer } from "./CatalogServices.ts"

/** 21,000 entities, two thirds of them of another organization, with words, prices, links, options and stock. */
const seedMany = inBulk(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into organizations (id, slug, name) values ('org_other', 'other', 'Other')`
  yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible, created_at)
    select gen_random_uuid(), case n % 3 when 0 then 'org_default' else 'org_other' end,
      case n % 2 when 0 then 'product' else 'download' end, 'p-' || n, case n % 5 when 0 then 'draft' else 'active' end,
      n % 5 <> 0, now() - n * interval '1 minute'
    from generate_series(1, 21000) n`
  // What a list says of how many there are.
  yield* sql`insert into catalog_totals (organization_id, type, status, is_visible, slot, entities)
    select organization_id, type, status, is_visible, 0, count(*) from catalog_entities group by 1, 2, 3, 4`
  yield* sql`insert into entity_attributes (id, organization_id, entity_id, locale, title)
    select gen_random_uuid(), organization_id, id, 'en', slug from catalog_entities`
  yield* sql`insert into entity_attribute_drafts (id, organization_id, entity_id, locale, changes)
    select gen_random_uuid(), organization_id, id, 'de', '{"title": "T"}' from catalog_entities where slug like '%7'`
  yield* sql`insert into entity_field_definitions (id, organization_id, entity_type, name, label, kind, is_required,
      is_unique, is_filterable, is_public, rules)
    select gen_random_uuid(), o, 'product', 'f' || n, 'F', 'number', false, false, true, true, '{}'
    from generate_series(1, 5) n, unnest(array['org_default', 'org_other']) o`
  yield* sql`insert into entity_field_values (organization_id, entity_id, definition_id, value)
    select e.organization_id, e.id, d.id, '1' from catalog_entities e join entity_field_definitions d
      on d.organization_id = e.organization_id`
  yield* sql`insert into prices (id, organization_id, entity_id, currency, amount)
    select gen_random_uuid(), organization_id, id, 'USD', 100 from catalog_entities`
  yield* sql`insert into categories (id, organization_id, slug)
    select gen_random_uuid(), 'org_default', 'c-' || n from generate_series(1, 200) n`
  yield* sql`insert into brands (id, organization_id, slug, display_name)
    select gen_random_uuid(), 'org_default', 'b-' || n, 'B' from generate_series(1, 200) n`
  yield* sql`insert into entity_categories (organization_id, entity_id, category_id)
    select e.organization_id, e.id, c.id from catalog_entities e
    join categories c on c.slug = 'c-' || (1 + substr(e.slug, 3)::int % 200) where e.organization_id = 'org_default'`
  yield* sql`insert into entity_brands (organization_id, entity_id, brand_id)
    select e.organization_id, e.id, b.id from catalog_entities e
    join brands b on b.slug = 'b-' || (1 + substr(e.slug, 3)::int % 200) where e.organization_id = 'org_default'`
  yield* sql`insert into option_types (id, organization_id, entity_id, name, display_name)
    select gen_random_uuid(), organization_id, id, 'size', 'size' from catalog_entities`
  yield* sql`insert into option_values (id, organization_id, option_type_id, value, display_value)
    select gen_random_uuid(), organization_id, id, 'm', 'm' from option_types`
  yield* sql`insert into variants (id, organization_id, entity_id, combination)
    select gen_random_uuid(), t.organization_id, t.entity_id, v.id::text from option_types t
    join option_values v on v.option_type_id = t.id`
  yield* sql`insert into variant_option_values (organization_id, variant_id, option_value_id)
    select organization_id, id, combination::uuid from variants`
  yield* sql`insert into warehouses (id, organization_id, name, code) values (gen_random_uuid(), 'org_default', 'w', 'w')`
  yield* sql`insert into stock_items (organization_id, sellable_id) select organization_id, id from catalog_entities`
  yield* sql`insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id, on_hand)
    select gen_random_uuid(), e.organization_id, e.id, w.id, e.id, 5 from catalog_entities e, warehouses w`
  yield* sql`insert into media_assets (id, organization_id, storage_key, filename, content_type, size, digest)
    select id, organization_id, '2026/' || id, slug, 'image/png', 1, '' from catalog_entities`
  yield* sql`insert into entity_media (organization_id, entity_id, media_asset_id, role)
    select organization_id, id, id, 'primary' from catalog_entities`
  yield* sql`insert into customers (id, organization_id, user_id)
    select gen_random_uuid(), 'org_default', 'user-' || n from generate_series(1, 5000) n`
  yield* sql`analyze`
}))

const everything = includesOf("attributes,variants,categories,brands,media,inventory,pricing,optionTypes,customFields")
const query = { page: 1, limit: 20, sort: { field: "createdAt", ascending: false } } as const

const list = (more: { readonly include?: ReadonlyArray<Include>; readonly [key: string]: unknown }) =>
  Effect.flatMap(CatalogReads, (reads) => reads.list({ ...query, include: [], ...more }))

const onePlan = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const plans = yield* plansOf(effect)
  assert.strictEqual(plans.length, 1)
  const [plan = ""] = plans
  // Reading a few hundred categories, brands, warehouses, definitions or totals as a whole is right; of the rest no table may be.
  assert.notMatch(plan, /Seq Scan on (?!categories|brands|warehouses|catalog_totals|entity_field_definitions)/)
  return plan
})

it.layer(catalogLayer())("the catalog among 21,000 entities", (it) => {
  it.effect("lists what shoppers see by one statement over the index made for it", () =>
    Effect.gen(function*() {
      yield* seedMany
      const plan = yield* onePlan(list({ include: ["pricing"] }))
      assert.include(plan, "catalog_entities_public")
      assert.include(plan, "catalog_totals")
      assert.match(plan, /prices_(natural|entity)/)
      const page = yield* list({ include: ["pricing"] })
      assert.deepStrictEqual([page.items.length, page.total], [20, 5600])
      assert.isTrue(page.items.every((item) => item.pricing?.length === 1))
    }).pipe(asShopper))

  it.effect("lists entities with every expansion in one statement, for any size of page", () =>
    Effect.gen(function*() {
      const plan = yield* onePlan(list({ include: everything, limit: 100 }))
      for (
        const index of [
          "entity_attributes_entity_id_locale_key",
          "entity_attribute_drafts_pkey",
          "entity_field_values_pkey",
          "variants_entity_id",
          "stock_levels_entity"
        ]
      ) {
        assert.include(plan, index)
      }
      const [first] = (yield* list({ include: everything })).items
      assert.deepStrictEqual(
        everything.map((name) => first?.[name]?.length),
        [1, 1, 1, 1, 1, 1, 1, 1, 5]
      )
    }).pipe(asShopkeeper))

  it.effect("reads one entity with every expansion by one statement", () =>
    Effect.gen(function*() {
      const reads = yield* CatalogReads
      const plan = yield* onePlan(reads.get("p-3", everything))
      assert.include(plan, "catalog_entities_organization_id_slug_key")
      const { id } = yield* reads.get("p-3", [])
      assert.include(yield* onePlan(reads.get(id, ["pricing"])), "catalog_entities_pkey")
    }).pipe(asShopkeeper))

  it.effect("narrows a list to a category and a brand by two statements over indexes", () =>
    Effect.gen(function*() {
      const plans = yield* plansOf(list({ category: "c-4", brand: "b-4" }))
      assert.strictEqual(plans.length, 2)
      assert.include(plans[1] ?? "", "entity_categories_category")
      assert.notInclude(plans[1] ?? "", "Seq Scan on catalog_entities")
      const narrowed = yield* list({ category: "c-4", brand: "b-4" })
      assert.deepStrictEqual([narrowed.items.length, narrowed.total], [20, 35])
      assert.strictEqual((yield* list({ category: "c-4", brand: "b-5" })).total, 0)
    }).pipe(asShopkeeper))

  it.effect("sorts by each field and direction without reading the table", () =>
    Effect.gen(function*() {
      for (const field of ["createdAt", "updatedAt", "slug"] as const) {
        for (const ascending of [true, false]) {
          yield* onePlan(list({ sort: { field, ascending } }))
        }
      }
    }).pipe(asShopkeeper))

  it.effect("pages through everything once", () =>
    Effect.gen(function*() {
      const seen = new Set<string>()
      for (const page of [1, 2, 3]) {
        for (const item of (yield* list({ category: "c-7", limit: 15, page })).items) seen.add(item.id)
      }
      assert.strictEqual(seen.size, 35)
      const beyond = yield* list({ category: "c-7", limit: 15, page: 9 })
      assert.deepStrictEqual([beyond.items.length, beyond.total], [0, 35])
      assert.strictEqual((yield* statementsOf(list({ page: 3 }))).length, 1)
    }).pipe(asShopkeeper))
})
