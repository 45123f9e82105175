import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { SearchChangesRepo } from "../../src/domain/search/SearchChangesRepo.ts"
import { SearchEngine } from "../../src/domain/search/SearchEngine.ts"
import { type SearchQuery, usualFacets } from "../../src/domain/search/SearchQuery.ts"
import { asShopper } from "../catalog/CatalogServices.ts"
import { plansOf, statementsOf } from "../pricing/Statements.ts"
import { inBulk } from "../support/InBulk.ts"
import { engineLayer } from "./Questions.ts"

/** 30,000 documents of two organizations, written past the catalog, and three entities that have theirs from the triggers. */
const seedMany = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into search_documents (doc, organization_id, entity_id, cell, is_public, type, status, sort_title,
      categories, brands, attributes, title_words)
    select nextval('search_docs'), case n % 3 when 0 then 'org_default' else 'org_other' end, gen_random_uuid(), n % 120,
      n % 5 <> 0, 'product', case when n % 5 = 0 then 'draft' else 'active' end, 'title ' || n, array['c-' || n % 40],
      array['b-' || n % 40], '{}', to_tsvector('simple', 'title ' || n)
    from generate_series(1, 30000) n`
  yield* sql`insert into search_words (doc, organization_id, entity_id, cell, shade, is_public, sort_title, marks, words)
    select doc, organization_id, entity_id, cell, 0, is_public, sort_title,
      array[o || 'c:' || categories[1], o || 'b:' || brands[1], o || 't:product'],
      search_owned(o, to_tsvector('simple', sort_title || ' w' || doc % 5000), title_words,
        (case when cell % 40 = 7 and not is_public then 'drafted' else '' end)::tsvector)
    from search_documents, search_owner(organization_id) o`
  yield* sql`insert into search_vocabulary (organization_id, word, is_name)
    select 'org_default', left(md5(n::text), 12), n % 2 = 0 from generate_series(1, 20000) n`
  yield* sql`insert into search_titles (organization_id, entity_id, locale, is_public, type, sort_title, title)
    select organization_id, entity_id, 'en', is_public, type, sort_title, sort_title from search_documents`
  yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
    select gen_random_uuid(), 'org_default', 'product', 'real-' || n, 'active', true from generate_series(1, 2000) n`
  yield* sql`insert into entity_attributes (id, organization_id, entity_id, locale, title)
    select gen_random_uuid(), organization_id, id, 'en', slug from catalog_entities`
  yield* inBulk(sql`insert into entity_attribute_drafts (id, organization_id, entity_id, locale, changes, proposed_by)
    select gen_random_uuid(), 'org_other', gen_random_uuid(), 'en', '{}', 'somebody' from generate_series(1, 5000)`)
  yield* sql`analyze`
})

const usual: SearchQuery = { page: 1, limit: 20, attributes: [], facets: usualFacets }

const searched = (more: Partial<SearchQuery>, publicOnly = true) =>
  Effect.flatMap(SearchEngine, (engine) => engine.search({ ...usual, ...more }, publicOnly))

const onePlan = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const plans = yield* plansOf(effect)
  assert.strictEqual(plans.length, 1)
  assert.notMatch(plans[0] ?? "", /Seq Scan/)
  return plans[0] ?? ""
})

describe("search among 32,000 documents", () => {
  it.layer(engineLayer)((it) => {
    it.effect("is one statement over the index of words, and two where nothing is found", () =>
      Effect.gen(function*() {
        yield* seedMany
        assert.include(yield* onePlan(searched({ q: "w77" })), "search_words_found")
        for (const query of [{ q: "w77", category: "c-37" }, { q: "w77", type: "product" }]) {
          const ofStaff = yield* onePlan(searched(query, false))
          assert.include(ofStaff, "search_words_found")
          assert.include(ofStaff, "entity_attribute_drafts_queue")
          assert.notMatch(ofStaff, /Filter: [^\n]*\(words @@/, "words are asked of the index and not of rows")
        }
        assert.strictEqual((yield* statementsOf(searched({ q: "xqzwvy nothing", limit: 100 }))).length, 2)
        const found = yield* searched({ q: "real", limit: 50, facets: ["type"] })
        assert.deepStrictEqual([found.hits.length, found.total, found.facets], [50, 2000, { type: { product: 2000 } }])
      }).pipe(asShopper))

    it.effect("by category, brand or attribute goes over the same index", () =>
      Effect.gen(function*() {
        for (
          const filter of [{ category: "c-3" }, { brand: "b-3" }, {
            attributes: [{ name: "size", values: ["s", "m"] }]
          }]
        ) {
          assert.include(yield* onePlan(searched(filter)), "search_words_found")
        }
      }).pipe(asShopper))

    it.effect("of a whole type reads its page from the titles and its figures from the groups", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`vacuum search_documents`
        const plan = yield* onePlan(searched({ type: "product" }))
        assert.include(plan, "search_documents_titles")
        assert.include(plan, "search_documents_cells")
        const { facets, total } = yield* searched({ type: "product" })
        assert.strictEqual(total, 10_000)
        assert.strictEqual(Object.values(facets["category"] ?? {}).reduce((sum, count) => sum + count, 0), 8000)
        assert.deepStrictEqual((yield* searched({ type: "service" })).total, 0)
      }).pipe(asShopper))

    it.effect("that was answered before reads the changes since and its hits by their keys", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into search_changes (organization_id, xid)
          select case when n < 300 then 'org_default' else 'org_other' end, n::text::xid8 from generate_series(3, 100000) n
          on conflict do nothing`
        yield* sql`analyze search_changes`
        const { total } = yield* searched({ q: "w78" })
        const plan = yield* onePlan(searched({ q: "w78" }))
        for (const key of ["search_changes_pkey", "search_documents_pkey"]) assert.include(plan, key)
        assert.notInclude(plan, "search_words")
        assert.strictEqual((yield* searched({ q: "w78" })).total, total)
      }).pipe(asShopper))

    it.effect("that was answered before a change reads by key what has changed, before and after", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into search_former (organization_id, xid, entity_id)
          select case when n < 300 then 'org_default' else 'org_other' end, n::text::xid8, gen_random_uuid()
          from generate_series(3, 100000) n`
        yield* sql`analyze search_former`
        const { total } = yield* searched({ q: "real" })
        yield* sql`update catalog_entities set status = 'draft' where slug in ('real-7', 'real-1999')`
        const [, plan = ""] = yield* plansOf(searched({ q: "real" }))
        for (const key of ["search_changes_pkey", "search_former_pkey", "search_documents_pkey", "search_words_pkey"]) {
          assert.include(plan, key)
        }
        assert.notMatch(plan, /Seq Scan|search_words_found/)
        assert.deepStrictEqual([total, (yield* searched({ q: "real" })).total], [2000, 1998])
        // Made up for another test, with numbers that transactions are still to get.
        yield* sql`delete from search_changes where organization_id = 'org_other'`
        const [purge = ""] = yield* plansOf(Effect.flatMap(SearchChangesRepo, (changes) => changes.purge(1000)))
        assert.notInclude(purge, "Seq Scan on search_former")
        assert.include(purge, "search_former_pkey")
      }).pipe(asShopper))

    it.effect("finds likes of a word over the words that there are", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const planOf = (where: Statement.Fragment) =>
          Effect.map(
            sql`explain select v.word from search_vocabulary v where v.organization_id = 'org_default' and ${where}`,
            (plan) => JSON.stringify(plan)
          )
        const likes = sql`v.is_name and ('telscope' <% v.word or v.word like '%telscope%')`
        assert.include(yield* planOf(likes), "search_vocabulary_likes")
        assert.include(yield* planOf(sql`v.word = any(array(select search_slips('lmap')))`), "search_vocabulary_words")
      }))

    it.effect("suggests from a range of the index of titles", () =>
      Effect.gen(function*() {
        const suggested = (publicOnly: boolean) =>
          Effect.flatMap(SearchEngine, (engine) => engine.suggest({ prefix: "Title 29", limit: 10 }, publicOnly))
        assert.include(yield* onePlan(suggested(true)), "search_titles_public")
        assert.include(yield* onePlan(suggested(false)), "search_titles_all")
        assert.lengthOf(yield* suggested(true), 10)
      }).pipe(asShopper))
  })
})
