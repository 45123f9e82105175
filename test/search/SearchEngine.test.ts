import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { EntityId } from "../../src/domain/platform/ids/Id.ts"
import { postgresEngineLayer } from "../../src/domain/search/PostgresEngineRepo.ts"
import { SearchEngine } from "../../src/domain/search/SearchEngine.ts"
import { type SearchQuery, usualFacets } from "../../src/domain/search/SearchQuery.ts"
import { asShopper } from "../catalog/CatalogServices.ts"
import { plansOf, statementsOf } from "../pricing/Statements.ts"
import { inBulk } from "../support/InBulk.ts"
import { TestDatabase } from "../support/Postgres.ts"

/** As a service of this organization. */
const as = (organization: string) => Effect.provideService(CurrentActor, systemActor(organization))

/** What the engine finds. */
const find = Effect.fnUntraced(function*(query: Partial<SearchQuery>, publicOnly = true) {
  return yield* (yield* SearchEngine).search(
    { page: 1, limit: 20, attributes: [], facets: usualFacets, ...query },
    publicOnly
  )
})

/** The engine over a database of the file. */
const engineLayer = Layer.provideMerge(postgresEngineLayer, TestDatabase)

const titles = ["Lamp", "Lamp", "Lamp base", "Base", "Shelf lamp", "Sconce"]
const descriptions = ["a lamp", "a base", "a lamp with a base", "of brass"]

interface Thing {
  readonly id: EntityId
  readonly title: string
  readonly description: string
  readonly brand: string
}

/** 600 products with few titles and 37 brands: many groups, and in each of them the same titles as in the others. */
const shelf: ReadonlyArray<Thing> = Array.from({ length: 600 }, (_, n) => ({
  id: EntityId.make(`00000000-0000-4000-8000-${String(n).padStart(12, "0")}`),
  title: titles[n * 7919 % 6] ?? "",
  description: descriptions[n * 104_729 % 4] ?? "",
  brand: `b-${n * 31 % 37}`
}))

const filled = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into brands (id, organization_id, slug, display_name)
    select md5('b-' || n)::uuid, 'org_default', 'b-' || n, 'B' from generate_series(0, 36) n`
  yield* sql`with things as (select t, n from jsonb_array_elements(${
    JSON.stringify(shelf)
  }::jsonb) with ordinality j(t, n)),
    made as (insert into catalog_entities (id, organization_id, type, slug, status, is_visible, metadata)
      select (t->>'id')::uuid, 'org_default', 'product', 's-' || n, 'active', true,
        jsonb_build_object('color', t->>'brand') from things order by n),
    words as (insert into entity_attributes (id, organization_id, entity_id, locale, title, description)
      select gen_random_uuid(), 'org_default', (t->>'id')::uuid, 'en', t->>'title', t->>'description' from things)
    insert into entity_brands (organization_id, entity_id, brand_id)
      select 'org_default', (t->>'id')::uuid, md5(t->>'brand')::uuid from things`
})

const hitsOf = (query: Partial<SearchQuery>) =>
  Effect.map(
    find(query),
    ({ facets, hits, total }) => ({ hits: hits.map(({ id, score }) => ({ id, score })), total, facets })
  )

/** What the shelf has of words and a brand, by going through all of it: two for a word in the title, one for one elsewhere. */
const expected = (words: ReadonlyArray<string>, brand: string | undefined) => {
  const has = (text: string, word: string) => text.toLowerCase().split(" ").some((one) => one.startsWith(word))
  const found = shelf.filter((thing) =>
    (brand === undefined || thing.brand === brand) &&
    words.every((word) => has(`${thing.title} ${thing.description}`, word))
  )
  const scored = found.map((thing) => ({
    ...thing,
    score: words.reduce((sum, word) => sum + (has(thing.title, word) ? 2 : 1), 0)
  }))
  const key = ({ id, score, title }: Thing & { readonly score: number }) =>
    `${99 - score} ${title.toLowerCase()}\t${id}`
  return scored.sort((a, b) => key(a) < key(b) ? -1 : 1)
}

const counts = (brands: ReadonlyArray<string>) => {
  const counted: Record<string, number> = {}
  for (const brand of brands) counted[brand] = (counted[brand] ?? 0) + 1
  return counted
}

const pages = [[1, 7], [3, 20], [3, 100]] as const

/** Each page is that of all hits in order, with the total and the facets of all of them. */
const expectPages = Effect.fnUntraced(function*(
  q: string | undefined,
  brand: string | undefined
) {
  const all = expected(q?.split(" ") ?? [], brand)
  for (const [page, limit] of pages) {
    const found = yield* hitsOf({ q, brand, page, limit, facets: ["brand", "attr.color"] })
    const hits = all.slice((page - 1) * limit, page * limit)
      .map(({ id, score }) => ({ id, score: q === undefined ? 0 : score }))
    const brands = counts(all.map((thing) => thing.brand))
    const facets = { brand: brands, "attr.color": brands }
    assert.deepStrictEqual(found, { hits, total: all.length, facets }, JSON.stringify({ q, brand, page, limit }))
  }
})

it.layer(engineLayer)("a page of hits", (it) => {
  it.effect("a page of hits equals a slice of all sorted hits, also for equal titles, with the facets of all hits", () =>
    Effect.gen(function*() {
      yield* filled
      for (
        const [q, brand] of [
          ["lamp"],
          ["lamp base"],
          ["brass base lamp"],
          ["brass sconce"],
          ["ba lamp base brass"],
          ["ba lamp brass"],
          ["sco"],
          ["lamp", "b-3"],
          [undefined, "b-3"],
          ["nothing"]
        ] as const
      ) {
        yield* expectPages(q, brand)
      }
    }).pipe(asShopper))
})

/** The same shelf in an organization, with one product that only it has. */
const aShelf = Effect.fnUntraced(function*(organization: string, own: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into organizations (id, slug, name) values (${organization}, ${organization}, 'A store')
    on conflict do nothing`
  yield* sql`with made as (insert into catalog_entities (id, organization_id, type, slug, status, is_visible, metadata)
      select gen_random_uuid(), ${organization}, 'product', s, 'active', true, '{"color": "red"}'
      from unnest(array['lantern', ${own}]) s returning *)
    insert into entity_attributes (id, organization_id, entity_id, locale, title)
      select gen_random_uuid(), organization_id, id, 'en', 'Shelf ' || slug from made`
})

/** Past the service, with the same words and filters on both sides. */
it.layer(engineLayer, { excludeTestServices: true })("the index of another organization", (it) => {
  it.effect("the index of another organization is neither found, counted, suggested nor taken for a similar word", () =>
    Effect.gen(function*() {
      yield* aShelf("org_default", "harpsichord")
      yield* aShelf("org_elsewhere", "xylophone-harpsichrod")
      const engine = yield* SearchEngine
      for (
        const query of [
          { q: "shelf" },
          { type: "product" },
          { attributes: [{ name: "color", values: ["red"] }] },
          { q: "shlef" }
        ]
      ) {
        const found = yield* find(query)
        assert.deepStrictEqual(found.hits.map(({ document }) => document.slug).toSorted(), ["harpsichord", "lantern"])
        assert.deepStrictEqual([found.total, found.facets["type"]], [2, { product: 2 }])
      }
      for (const q of ["xylophone", "xylophnoe", "ylophon"]) {
        assert.strictEqual((yield* find({ q }, false)).total, 0, q)
      }
      assert.deepStrictEqual(yield* engine.suggest({ prefix: "shelf", limit: 10 }, false), [
        "Shelf harpsichord",
        "Shelf lantern"
      ])
    }).pipe(as("org_default")))

  it.effect("finds similar words even if no document has the most similar ones", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into search_vocabulary (organization_id, word, is_name)
        select 'org_default', 'harpsichrd' || n, true from generate_series(10, 29) n`
      const found = yield* find({ q: "harpsichrd" }, true)
      assert.deepStrictEqual(found.hits.map(({ document }) => document.slug), ["harpsichord"])
    }).pipe(as("org_default")))

  it.effect("the index of another organization does not keep a word from being mistyped, nor do its drafts", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into entity_attribute_drafts (id, organization_id, entity_id, locale, changes)
        select gen_random_uuid(), organization_id, id, 'en', '{"title": "lantrn"}' from catalog_entities
        where organization_id = 'org_elsewhere' and slug = 'lantern'`
      for (const [q, slug] of [["harpsichrod", "harpsichord"], ["lantrn", "lantern"]] as const) {
        const found = yield* find({ q }, false)
        assert.deepStrictEqual(found.hits.map(({ document }) => document.slug), [slug])
      }
    }).pipe(as("org_default")))

  it.effect("the index of another organization does not change the languages in which ours is searched", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into entity_attributes (id, organization_id, entity_id, locale, title)
        select gen_random_uuid(), organization_id, id, locale, 'Die Laterne'
        from catalog_entities, unnest(array['de', 'nl']) locale
        where organization_id = 'org_elsewhere' and slug = 'lantern'`
      const terms = (organization: string) =>
        Effect.map(
          sql<{ readonly terms: number }>`select cardinality(search_terms(${organization}, 'die shelf')) as terms`,
          ([row]) => row?.terms
        )
      assert.deepStrictEqual([yield* terms("org_default"), yield* terms("org_elsewhere")], [2, 1])
    }))
})

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
