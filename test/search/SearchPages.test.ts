import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SearchQuery } from "../../src/domain/search/SearchQuery.ts"
import { asShopper } from "../catalog/CatalogServices.ts"
import { engineLayer, find } from "./Engine.ts"

const titles = ["Lamp", "Lamp", "Lamp base", "Base", "Shelf lamp", "Sconce"]
const descriptions = ["a lamp", "a base", "a lamp with a base", "of brass"]

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
