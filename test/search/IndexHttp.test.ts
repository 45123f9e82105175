import { assert } from "@effect/vitest"
import { Effect, Random } from "effect"
import type { SqlClient } from "effect/sql"
import {
  brands,
  categories,
  change,
  entities,
  make,
  onDatabase,
  searching,
  shopper,
  suggested
} from "../catalog/CatalogCalls.ts"
import { api, asAdmin, withApp } from "../support/TestApp.ts"

const columns = `entity_id, organization_id, is_public, type, status, sort_title, categories, brands, attributes,
  title_words::text, words::text, staff_words::text`

/** Documents of the index, and those that would be made of the catalog from scratch. */
const documents = `select
  (select coalesce(jsonb_agg(to_jsonb(k) order by k.entity_id), '[]') from (select ${columns} from search_documents) k) as kept,
  (select coalesce(jsonb_agg(to_jsonb(b) order by b.entity_id), '[]') from (select ${columns}
    from search_build(array(select id from catalog_entities))) b) as built`

/** The index says of every organization what one made from scratch would say; gives how many documents it has. */
const expectTrueIndex = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, when: string) {
  const [found] = yield* sql.unsafe<{ readonly kept: ReadonlyArray<unknown>; readonly built: unknown }>(documents)
  assert.deepStrictEqual(found?.kept, found?.built, when)
  assert.lengthOf(yield* sql`select 1 from search_stale`, 0, when)
  return found?.kept.length ?? 0
})

const total = (query: string) => Effect.map(searching(query, shopper), (found) => found.total)

withApp("the index, after each answer", (it) => {
  it.effect("the index knows of an entity when it is made active, changed, hidden, archived and deleted", () =>
    Effect.gen(function*() {
      const { id } = yield* make({ slug: "agate", attributes: { title: "Agate ring" } })
      const at = `${entities}/${id}`
      assert.strictEqual(yield* total("q=agate"), 0)
      yield* change("POST", `${at}/publish`)
      assert.strictEqual(yield* total("q=agate"), 1)
      yield* change("PATCH", at, { slug: "onyx", metadata: { stone: "black" } })
      assert.deepStrictEqual([yield* total("q=onyx"), yield* total("attr.stone=black&type=product")], [1, 1])
      yield* change("PATCH", at, { isVisible: false })
      assert.strictEqual(yield* total("q=onyx"), 0)
      yield* change("PATCH", at, { isVisible: true })
      yield* change("POST", `${at}/archive`)
      assert.strictEqual(yield* total("q=onyx"), 0)
      assert.strictEqual((yield* searching("q=onyx&status=archived")).total, 1)
      yield* change("DELETE", at)
      assert.strictEqual((yield* searching("q=onyx")).total, 0)
      assert.deepStrictEqual(yield* suggested("prefix=agate"), [])
      const left = yield* onDatabase((sql) => sql`select 1 from search_documents where entity_id = ${id}::uuid`)
      assert.lengthOf(left, 0)
    }))

  it.effect("the index knows of an entity when its words change, in every locale", () =>
    Effect.gen(function*() {
      const { id } = yield* make({ status: "active", attributes: { title: "Basalt block", description: "heavy" } })
      const at = `${entities}/${id}/attributes`
      yield* change("PUT", `${at}/en`, { title: "Granite block", description: null })
      yield* change("PUT", `${at}/de`, { title: "Granitblöcke" })
      assert.deepStrictEqual(
        [yield* total("q=basalt"), yield* total("q=granite"), yield* total("q=granitblock")],
        [0, 1, 1]
      )
      assert.deepStrictEqual(yield* suggested("prefix=gran", shopper), ["Granitblöcke", "Granite block"])
      assert.deepStrictEqual(yield* suggested("prefix=basalt"), [])
    }))

  it.effect("the index knows of an entity when its category or brand is linked, renamed, unlinked and deleted", () =>
    Effect.gen(function*() {
      const { id } = yield* make({ status: "active", attributes: { title: "Coral" } })
      for (const [records, kind] of [[categories, "category"], [brands, "brand"]] as const) {
        const links = `${entities}/${id}/${kind === "category" ? "categories" : "brands"}`
        const record = yield* change("POST", records, { slug: `reef-${kind}`, displayName: "Reef" })
        const target = record.text("data.id")
        yield* change("POST", `${links}/${target}`)
        assert.strictEqual(yield* total(`${kind}=reef-${kind}&q=reef`), 1)
        yield* change("PATCH", `${records}/${target}`, { slug: `shoal-${kind}` })
        assert.deepStrictEqual(
          [yield* total(`${kind}=reef-${kind}`), yield* total(`${kind}=shoal-${kind}&q=shoal`)],
          [0, 1]
        )
        const { facets } = yield* searching("q=coral")
        assert.deepStrictEqual(Object(facets)[kind], { [`shoal-${kind}`]: 1 })
        yield* change("DELETE", `${links}/${target}`)
        assert.strictEqual(yield* total(`${kind}=shoal-${kind}`), 0)
        yield* change("POST", `${links}/${target}`)
        yield* change("DELETE", `${records}/${target}`)
        assert.deepStrictEqual([yield* total(`${kind}=shoal-${kind}`), yield* total("q=shoal")], [0, 0])
      }
    }))

  it.effect("the index knows of an entity when it gets variants", () =>
    Effect.gen(function*() {
      const { id } = yield* make({ status: "active", attributes: { title: "Dolomite" } })
      yield* change("POST", `${entities}/${id}/options`, { name: "finish", values: ["matte", "gloss"] })
      assert.strictEqual(yield* total("attr.finish=matte"), 0)
      yield* change("POST", `${entities}/${id}/variants`, { options: { finish: "matte" }, sku: "DOLO-1" })
      assert.deepStrictEqual([yield* total("attr.finish=matte"), yield* total("q=dolo-1")], [1, 1])
      yield* change("POST", `${entities}/${id}/variants/generate`, { mode: "all" })
      assert.strictEqual(yield* total("attr.finish=gloss&q=dolomite+gloss"), 1)
    }))

  it.effect("keeps up with two requests that change parts of one entity at the same moment", () =>
    Effect.gen(function*() {
      const { id } = yield* make({ status: "active", attributes: { title: "Fluorite" } })
      const category = yield* change("POST", categories, { slug: "fluor" })
      const brand = yield* change("POST", brands, { slug: "rite", displayName: "Rite" })
      yield* Effect.all([
        change("POST", `${entities}/${id}/categories/${category.text("data.id")}`),
        change("POST", `${entities}/${id}/brands/${brand.text("data.id")}`),
        change("PUT", `${entities}/${id}/attributes/en`, { title: "Fluorspar" }),
        change("PUT", `${entities}/${id}/attributes/fr`, { title: "Fluorine" }),
        change("POST", `${entities}/${id}/variants`, { options: {}, sku: "FLUO" }),
        change("PATCH", `${entities}/${id}`, { metadata: { glow: "violet" } })
      ], { concurrency: "unbounded" })
      assert.strictEqual(yield* total("q=fluorspar+fluorine+fluo&category=fluor&brand=rite&attr.glow=violet"), 1)
      yield* onDatabase((sql) => expectTrueIndex(sql, "after changes at once"))
    }))

  it.effect("equals a rebuilt index after changes of every kind to the catalog", () =>
    Effect.gen(function*() {
      const ids = { entity: [""], category: [""], brand: [""] }
      for (let n = 0; n < 4; n++) {
        ids.entity.push((yield* make({ status: "active", attributes: { title: `Random ${n}` } })).id)
        ids.category.push((yield* change("POST", categories, { slug: `rc-${n}` })).text("data.id"))
        ids.brand.push((yield* change("POST", brands, { slug: `rb-${n}`, displayName: "R" })).text("data.id"))
      }
      const draw = <A>(list: ReadonlyArray<A>) =>
        Effect.map(Random.nextIntBetween(0, list.length, { halfOpen: true }), (at) => list[at] as A)
      for (let step = 0; step < 120; step++) {
        const entity = yield* draw(ids.entity.slice(1))
        const category = yield* draw(ids.category.slice(1))
        const brand = yield* draw(ids.brand.slice(1))
        const [method, path, body] = yield* draw(mutations(entity, category, brand, step))
        const answer = yield* api(method, path, { as: asAdmin, ...(body === undefined ? {} : { body }) })
        assert.isBelow(answer.status, 500, `${method} ${path} ${JSON.stringify(answer.body)}`)
        if (method === "POST" && path === entities) ids.entity.push(answer.text("data.id"))
        if (step % 12 === 0) yield* onDatabase((sql) => expectTrueIndex(sql, `after step ${step}, ${method} ${path}`))
      }
      assert.isAbove(yield* onDatabase((sql) => expectTrueIndex(sql, "at the end")), 2)
    }).pipe(Random.withSeed("catalog")))

  it.effect("equals a rebuilt index after statements that change many rows", () =>
    onDatabase((sql) =>
      Effect.gen(function*() {
        yield* sql`insert into organizations (id, slug, name) values ('org_bulk', 'bulk', 'Bulk')`
        for (const statement of catalogStatements) {
          yield* sql.unsafe(statement)
          yield* expectTrueIndex(sql, `after ${statement}`)
        }
      })
    ))

  it.effect("takes no more of long texts than it can hold, and no change fails for them", () =>
    Effect.gen(function*() {
      const long = Array.from({ length: 12_000 }, (_, n) => `w${n.toString(36)}x`).join(" ")
      const { id } = yield* make({ status: "active", attributes: { title: "Long" } })
      const metadata = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`key-${n}`, long.slice(n, n + 190)]))
      yield* change("PATCH", `${entities}/${id}`, { metadata })
      yield* onDatabase((sql) =>
        sql`insert into entity_attributes (id, organization_id, entity_id, locale, title, subtitle, description)
          select gen_random_uuid(), 'org_default', ${id}::uuid, 'l' || n, repeat('é', 60000), ${long},
            replace(${long}, 'x', n || 'z') from generate_series(1, 60) n`
      )
      assert.strictEqual(yield* total("q=w2x+w3x+long"), 1)
      assert.strictEqual(yield* total("q=long&attr.key-1=nothing"), 0)
    }))
})

type Mutation = readonly [method: string, path: string, body?: unknown]

/** What may be done to a catalog, with what the step makes different. */
const mutations = (entity: string, category: string, brand: string, step: number): ReadonlyArray<Mutation> => {
  const at = `${entities}/${entity}`
  return [
    ["POST", entities, {
      type: "thing",
      slug: `made-${step}`,
      status: "active",
      attributes: { title: `Made ${step}` }
    }],
    ["PATCH", at, { slug: `slug-${step}` }],
    ["PATCH", at, { metadata: { color: `c${step % 3}`, n: step } }],
    ["PATCH", at, { isVisible: step % 2 === 0 }],
    ["POST", `${at}/publish`],
    ["POST", `${at}/archive`],
    ["DELETE", at],
    ["PUT", `${at}/attributes/en`, { title: `Title ${step}`, description: "words of it" }],
    ["PUT", `${at}/attributes/de`, { title: `Titel ${step}`, subtitle: "schön" }],
    ["POST", `${at}/categories/${category}`],
    ["DELETE", `${at}/categories/${category}`],
    ["PATCH", `${categories}/${category}`, { slug: `cat-${step}` }],
    ["DELETE", `${categories}/${category}`],
    ["POST", `${at}/brands/${brand}`],
    ["DELETE", `${at}/brands/${brand}`],
    ["PATCH", `${brands}/${brand}`, { slug: `brand-${step}`, displayName: `Brand ${step}` }],
    ["DELETE", `${brands}/${brand}`],
    ["POST", `${at}/options`, { name: `o${step % 3}`, values: ["s", "m"] }],
    ["POST", `${at}/variants`, { options: {}, sku: `sku-${step}` }],
    ["POST", `${at}/variants/generate`, { mode: "all" }]
  ]
}

/** Changes of all kinds to the catalog of the organization `org_bulk`, one after the other, each by one statement for many rows. */
const catalogStatements: ReadonlyArray<string> = [
  `insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
    select gen_random_uuid(), 'org_bulk', 'product', 'bulk-' || n, 'active', true from generate_series(1, 50) n`,
  `insert into entity_attributes (id, organization_id, entity_id, locale, title)
    select gen_random_uuid(), organization_id, id, l, slug from catalog_entities, unnest(array['en', 'de']) l
    where organization_id = 'org_bulk'`,
  "update entity_attributes set title = title || ' more' where organization_id = 'org_bulk' and locale = 'de'",
  "update entity_attributes set locale = 'es' where organization_id = 'org_bulk' and locale = 'de'",
  "delete from entity_attributes where organization_id = 'org_bulk' and locale = 'es'",
  "insert into brands (id, organization_id, slug, display_name) values (gen_random_uuid(), 'org_bulk', 'b', 'B')",
  `insert into entity_brands (organization_id, entity_id, brand_id) select 'org_bulk', e.id, b.id
    from catalog_entities e, brands b where e.organization_id = 'org_bulk' and b.organization_id = 'org_bulk'`,
  "update catalog_entities set status = 'draft' where organization_id = 'org_bulk' and slug = 'bulk-7'",
  "update brands set display_name = 'Bee' where organization_id = 'org_bulk'",
  `insert into option_types (id, organization_id, entity_id, name, display_name)
    select gen_random_uuid(), organization_id, id, 'size', 'size' from catalog_entities
    where organization_id = 'org_bulk'`,
  `insert into option_values (id, organization_id, option_type_id, value, display_value)
    select gen_random_uuid(), organization_id, id, 'xl', 'xl' from option_types
    where organization_id = 'org_bulk'`,
  `insert into variants (id, organization_id, entity_id, combination, sku)
    select gen_random_uuid(), t.organization_id, t.entity_id, v.id::text, 'sku-' || v.id from option_types t
    join option_values v on v.option_type_id = t.id where t.organization_id = 'org_bulk'`,
  `insert into variant_option_values (organization_id, variant_id, option_value_id)
    select organization_id, id, combination::uuid from variants where organization_id = 'org_bulk'`,
  "update option_types set name = 'measure' where organization_id = 'org_bulk'",
  "update option_values set value = 'xxl' where organization_id = 'org_bulk'",
  "update variants set sku = 'new-' || sku where organization_id = 'org_bulk'",
  "update variants set status = 'discontinued' where organization_id = 'org_bulk' and sku < 'new-sku-8'",
  "delete from option_values where organization_id = 'org_bulk' and id::text < '8'",
  "update catalog_entities set organization_id = 'org_default' where slug in ('bulk-1', 'bulk-2')",
  "delete from brands where organization_id = 'org_bulk'",
  "delete from variants where organization_id = 'org_bulk'",
  "delete from catalog_entities where organization_id = 'org_bulk' and slug < 'bulk-3'"
]
