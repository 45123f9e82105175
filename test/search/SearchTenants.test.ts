import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { postgresEngineLayer } from "../../src/domain/search/PostgresEngineRepo.ts"
import { SearchEngine } from "../../src/domain/search/SearchEngine.ts"
import { type SearchQuery, usualFacets } from "../../src/domain/search/SearchQuery.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { as } from "./Questions.ts"

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

const all: SearchQuery = { page: 1, limit: 20, attributes: [], facets: usualFacets }

/** Past the service, with the same words and marks on both sides. */
it.layer(Layer.provideMerge(postgresEngineLayer, TestDatabase), { excludeTestServices: true })(
  "the index of another organization",
  (it) => {
    it.effect("is neither found, counted, suggested nor taken for a like", () =>
      Effect.gen(function*() {
        yield* aShelf("org_default", "harpsichord")
        yield* aShelf("org_elsewhere", "xylophone")
        const engine = yield* SearchEngine
        for (
          const query of [
            { q: "shelf" },
            { type: "product" },
            { attributes: [{ name: "color", values: ["red"] }] },
            { q: "shlef" }
          ]
        ) {
          const found = yield* engine.search({ ...all, ...query }, true)
          assert.deepStrictEqual(found.hits.map(({ document }) => document.slug).toSorted(), ["harpsichord", "lantern"])
          assert.deepStrictEqual([found.total, found.facets["type"]], [2, { product: 2 }])
        }
        for (const q of ["xylophone", "xylophnoe", "ylophon"]) {
          assert.strictEqual((yield* engine.search({ ...all, q }, false)).total, 0, q)
        }
        assert.deepStrictEqual(yield* engine.suggest({ prefix: "shelf", limit: 10 }, false), [
          "Shelf harpsichord",
          "Shelf lantern"
        ])
      }).pipe(as("org_default")))

    it.effect("leaves room for likes where nobody has the words that are the most like", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into search_vocabulary (organization_id, word, is_name)
          select 'org_default', 'harpsichrd' || n, true from generate_series(10, 29) n`
        const engine = yield* SearchEngine
        const found = yield* engine.search({ ...all, q: "harpsichrd" }, true)
        assert.deepStrictEqual(found.hits.map(({ document }) => document.slug), ["harpsichord"])
      }).pipe(as("org_default")))

    it.effect("is not found either where its short name in the index is the same as ours", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`update search_words w set words = replace(words::text, search_owner(w.organization_id),
            search_owner('org_default'))::tsvector
          where organization_id = 'org_elsewhere'`
        const engine = yield* SearchEngine
        for (const [q, total] of [["xylophone", 0], ["xylophnoe", 0], ["shelf", 2]] as const) {
          const { facets, hits, total: found } = yield* engine.search({ ...all, q, facets: ["type", "color"] }, false)
          assert.deepStrictEqual([hits.length, found], [total, total], q)
          const counted = total === 0 ? { type: {}, color: {} } : { type: { product: total }, color: { red: total } }
          assert.deepStrictEqual(facets, counted, q)
        }
      }).pipe(as("org_default")))

    it.effect("says nothing of the languages in which we write", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into entity_attributes (id, organization_id, entity_id, locale, title)
          select gen_random_uuid(), organization_id, id, locale, 'Die Laterne'
          from catalog_entities, unnest(array['de', 'nl']) locale
          where organization_id = 'org_elsewhere' and slug = 'lantern'`
        const parts = (organization: string) =>
          Effect.map(
            sql<{ readonly parts: number }>`select cardinality(search_asked(${organization}, 'die shelf')) as parts`,
            ([row]) => row?.parts
          )
        assert.deepStrictEqual([yield* parts("org_default"), yield* parts("org_elsewhere")], [2, 1])
      }))
  }
)
