import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { SearchEngine } from "../../src/domain/search/SearchEngine.ts"
import { asShopper } from "../catalog/CatalogServices.ts"
import { plansOf, statementsOf } from "../pricing/Statements.ts"
import { inBulk } from "../support/InBulk.ts"
import { engineLayer, find } from "./Engine.ts"

/** 30,000 documents of two organizations, written past the catalog, and 2,000 entities that have theirs from the triggers. */
const seedMany = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into search_documents (entity_id, organization_id, is_public, type, status, sort_title, categories,
      brands, attributes, title_words, words)
    select gen_random_uuid(), case n % 3 when 0 then 'org_default' else 'org_other' end, n % 5 <> 0, 'product',
      case when n % 5 = 0 then 'draft' else 'active' end, 'title ' || n, array['c-' || n % 40], array['b-' || n % 40],
      '{}', to_tsvector('simple', 'title ' || n), to_tsvector('simple', 'title ' || n || ' w' || n % 5000)
    from generate_series(1, 30000) n`
  yield* sql`insert into search_vocabulary (organization_id, word, is_name)
    select 'org_default', left(md5(n::text), 12), n % 2 = 0 from generate_series(1, 20000) n`
  yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
    select gen_random_uuid(), 'org_default', 'product', 'real-' || n, 'active', true from generate_series(1, 2000) n`
  yield* sql`insert into entity_attributes (id, organization_id, entity_id, locale, title)
    select gen_random_uuid(), organization_id, id, 'en', slug from catalog_entities`
  yield* inBulk(sql`with made as (insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
      select gen_random_uuid(), 'org_other', 'product', 'other-' || n, 'active', true from generate_series(1, 20000) n
      returning *)
    insert into entity_attributes (id, organization_id, entity_id, locale, title)
      select gen_random_uuid(), organization_id, id, 'en', slug from made`)
  yield* sql`analyze`
})

/** The plan of the one statement, which reads no table from end to end. */
const onePlan = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const plans = yield* plansOf(effect)
  assert.strictEqual(plans.length, 1)
  assert.notMatch(plans[0] ?? "", /Seq Scan/)
  return plans[0] ?? ""
})

it.layer(engineLayer)("a search among 32,000 documents", (it) => {
  it.effect("a search among 32,000 documents is one statement over the index of words, and two where nothing is found", () =>
    Effect.gen(function*() {
      yield* seedMany
      for (const query of [{ q: "w77" }, { q: "w77", category: "c-37" }, { q: "w77", type: "product" }]) {
        assert.include(yield* onePlan(find(query)), "search_documents_found")
        const ofStaff = yield* onePlan(find(query, false))
        assert.include(ofStaff, "search_documents_found")
        assert.include(ofStaff, "search_documents_drafts")
      }
      assert.strictEqual((yield* statementsOf(find({ q: "xqzwvy nothing", limit: 100 }))).length, 2)
      const found = yield* find({ q: "real", limit: 50, facets: ["type"] })
      assert.deepStrictEqual([found.hits.length, found.total, found.facets], [50, 2000, { type: { product: 2000 } }])
    }).pipe(asShopper))

  it.effect("a search among 32,000 documents by category, brand or attribute goes over the same index", () =>
    Effect.gen(function*() {
      for (
        const filter of [{ category: "c-3" }, { brand: "b-3" }, {
          attributes: [{ name: "size", values: ["s", "m"] }]
        }]
      ) {
        assert.include(yield* onePlan(find(filter)), "search_documents_found")
      }
    }).pipe(asShopper))

  it.effect("a search among 32,000 documents of a whole type counts all of it", () =>
    Effect.gen(function*() {
      const { facets, total } = yield* find({ type: "product" })
      assert.strictEqual(total, 10_000)
      assert.strictEqual(Object.values(facets["category"] ?? {}).reduce((sum, count) => sum + count, 0), 8000)
      assert.deepStrictEqual((yield* find({ type: "service" })).total, 0)
    }).pipe(asShopper))

  it.effect("finds similar words over the indexes of the vocabulary", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const planOf = (where: Statement.Fragment) =>
        Effect.map(
          sql`explain select v.word from search_vocabulary v where v.organization_id = 'org_default' and ${where}`,
          (plan) => JSON.stringify(plan)
        )
      const similar = sql`v.is_name and ('telscope' <% v.word or v.word like '%telscope%')`
      assert.include(yield* planOf(similar), "search_vocabulary_similar")
      assert.include(yield* planOf(sql`v.word = any(array(select search_slips('lmap')))`), "search_vocabulary_words")
    }))

  it.effect("suggests from a range of the index of titles", () =>
    Effect.gen(function*() {
      const suggested = (publicOnly: boolean) =>
        Effect.flatMap(SearchEngine, (engine) => engine.suggest({ prefix: "Real-19", limit: 10 }, publicOnly))
      for (const publicOnly of [true, false]) {
        assert.include(yield* onePlan(suggested(publicOnly)), "entity_attributes_titles")
      }
      assert.lengthOf(yield* suggested(true), 10)
    }).pipe(asShopper))
})
