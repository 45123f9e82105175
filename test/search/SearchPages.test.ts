import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { postgresEngineLayer } from "../../src/domain/search/PostgresEngineRepo.ts"
import { SearchEngine } from "../../src/domain/search/SearchEngine.ts"
import { type SearchQuery, usualFacets } from "../../src/domain/search/SearchQuery.ts"
import { asShopper } from "../catalog/CatalogServices.ts"
import { TestDatabase } from "../support/Postgres.ts"

const titles = ["Lamp", "Lamp", "Lamp shade", "Shade", "Shelf lamp", "Sconce"]
const descriptions = ["a lamp", "a shade", "a lamp with a shade", "of brass"]

interface Thing {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly brand: string
}

/** 600 products with few titles and 37 brands: many groups, and in each of them the same titles as in the others. */
const shelf: ReadonlyArray<Thing> = Array.from({ length: 600 }, (_, n) => ({
  id: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
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
    Effect.flatMap(
      SearchEngine,
      (engine) => engine.search({ page: 1, limit: 20, attributes: [], facets: usualFacets, ...query }, true)
    ),
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

/** 31,000 documents more that have all words, none of them in a title, and whose titles come after all others. */
const manyMore = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into search_documents (doc, organization_id, entity_id, cell, is_public, type, status, sort_title,
      categories, brands, attributes, title_words)
    select nextval('search_docs'), 'org_default', gen_random_uuid(), 1, true, 'product', 'active', 'zz' || n, '{}', '{}',
      '{}', '' from generate_series(1, 31000) n`
  yield* sql`insert into search_words (doc, organization_id, entity_id, cell, shade, is_public, sort_title, marks, words)
    select doc, organization_id, entity_id, cell, 0, true, sort_title, '{}',
      search_owned(search_owner(organization_id), 'a brass lamp sconce shade', '', '') from search_documents
    where cell = 1`
  // What the triggers on the catalog would have written.
  yield* sql`insert into search_changes (organization_id) values ('org_default')`
})

const pages = [[1, 7], [3, 20], [3, 100]] as const

/** Each page is that of all hits in order, with the total and the figures of all of them; `more` are found beside the shelf. */
const expectPages = Effect.fnUntraced(function*(
  q: string | undefined,
  brand: string | undefined,
  more: number,
  asked: ReadonlyArray<readonly [page: number, limit: number]>
) {
  const all = expected(q?.split(" ") ?? [], brand)
  for (const [page, limit] of asked) {
    const found = yield* hitsOf({ q, brand, page, limit, facets: ["brand", "attr.color"] })
    const hits = all.slice((page - 1) * limit, page * limit)
      .map(({ id, score }) => ({ id, score: q === undefined ? 0 : score }))
    const brands = counts(all.map((thing) => thing.brand))
    const facets = { brand: brands, "attr.color": brands }
    assert.deepStrictEqual(found, { hits, total: all.length + more, facets }, JSON.stringify({ q, brand, page, limit }))
  }
})

it.layer(Layer.provideMerge(postgresEngineLayer, TestDatabase))("a page of hits", (it) => {
  it.effect("is what sorting everything would give, also where titles are the same, and its figures are of everything", () =>
    Effect.gen(function*() {
      yield* filled
      for (
        const [q, brand] of [
          ["lamp"],
          ["lamp shade"],
          ["brass shade lamp"],
          ["brass sconce"],
          ["sh lamp shade brass"],
          ["sh lamp brass"],
          ["sco"],
          ["lamp", "b-3"],
          [undefined, "b-3"],
          ["nothing"]
        ] as const
      ) {
        yield* expectPages(q, brand, 0, pages)
      }
    }).pipe(asShopper))

  it.effect("is the same where thousands are found whose titles come later", () =>
    Effect.gen(function*() {
      yield* manyMore
      for (const q of ["lamp", "lamp shade", "brass", "brass sconce", "sh lamp shade brass"]) {
        const own = expected(q.split(" "), undefined).length
        yield* expectPages(q, undefined, 31_000, pages.filter(([page, limit]) => page * limit <= own))
      }
    }).pipe(asShopper))
})
