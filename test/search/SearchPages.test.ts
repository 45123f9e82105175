import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { postgresEngineLayer } from "../../src/domain/search/PostgresEngineRepo.ts"
import { SearchEngine } from "../../src/domain/search/SearchEngine.ts"
import { type SearchQuery, usualFacets } from "../../src/domain/search/SearchQuery.ts"
import { asShopper } from "../catalog/CatalogServices.ts"
import { TestDatabase } from "../support/Postgres.ts"

/** 600 products with 6 titles and 40 brands: many groups, and in each of them the same titles as in the others. */
const aShelf = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into brands (id, organization_id, slug, display_name)
    select md5('b' || n)::uuid, 'org_default', 'b-' || n, 'B' from generate_series(0, 39) n`
  yield* sql`with made as (insert into catalog_entities (id, organization_id, type, slug, status, is_visible, metadata)
      select md5('e' || n)::uuid, 'org_default', 'product', 's-' || n, 'active', true, '{"color": "red"}'
      from generate_series(1, 600) n returning *),
    words as (insert into entity_attributes (id, organization_id, entity_id, locale, title, description)
      select gen_random_uuid(), 'org_default', md5('e' || n)::uuid, 'en',
        (array['Lamp', 'Lamp', 'Lamp shade', 'Shade', 'Shelf lamp', 'Sconce'])[1 + n * 7919 % 6],
        (array['a lamp', 'a shade', 'a lamp with a shade'])[1 + n * 104729 % 3] from generate_series(1, 600) n)
    insert into entity_brands (organization_id, entity_id, brand_id)
      select 'org_default', md5('e' || n)::uuid, md5('b' || n * 31 % 37)::uuid from generate_series(1, 600) n`
})

const hitsOf = (query: Partial<SearchQuery>) =>
  Effect.map(
    Effect.flatMap(
      SearchEngine,
      (engine) => engine.search({ page: 1, limit: 20, attributes: [], facets: usualFacets, ...query }, true)
    ),
    ({ facets, hits, total }) => ({
      hits: hits.map(({ id, score }) => ({ id, score })),
      total,
      brands: facets["brand"]
    })
  )

/** A facet that is an attribute has every document sorted, and is so to say the plain way. */
const plainly = [...usualFacets, "color"]

it.layer(Layer.provideMerge(postgresEngineLayer, TestDatabase))("a page made from the best groups", (it) => {
  it.effect("is what sorting everything gives, also where titles are the same", () =>
    Effect.gen(function*() {
      yield* aShelf
      for (
        const asked of [
          { q: "lamp" },
          { q: "lamp shade" },
          { q: "shade of a lamp" },
          { q: "sco" },
          { brand: "b-3" },
          { q: "lamp", brand: "b-3" },
          { attributes: [{ name: "color", values: ["red"] }] },
          { q: "lmap" }
        ]
      ) {
        for (const [page, limit] of [[1, 1], [1, 7], [3, 20], [2, 100], [9, 20], [11, 20], [6, 100]] as const) {
          const found = yield* hitsOf({ ...asked, page, limit })
          const sorted = yield* hitsOf({ ...asked, page, limit, facets: plainly })
          assert.deepStrictEqual(found, sorted, JSON.stringify({ asked, page, limit }))
        }
      }
      assert.isAbove((yield* hitsOf({ q: "lamp" })).total, 300)
    }).pipe(asShopper))
})
