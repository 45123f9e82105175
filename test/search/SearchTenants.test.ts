import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { SearchEngine } from "../../src/domain/search/SearchEngine.ts"
import { as, engineLayer, find } from "./Engine.ts"

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
it.layer(engineLayer, { excludeTestServices: true })(
  "the index of another organization",
  (it) => {
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
  }
)
