import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SearchQuery } from "../../src/domain/search/SearchQuery.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { drawn } from "../support/Drawn.ts"
import { as, ask, askAnew, aStore, engineLayer } from "./Questions.ts"

const organization = "org_any"

/** Some things of the store, as entities `e`. */
const some = (ending: number) => `e.organization_id = '${organization}' and e.slug like 'thing-%${ending}'`

/** What may be done to some of the things, most of it several times in a row. */
const changes = [
  ...[1, 2, 3, 14, 25].flatMap((n) => [
    `update entity_attributes a set title = 'Oak ' || a.title from catalog_entities e where a.entity_id = e.id and ${
      some(n)
    }`,
    `update entity_attributes a set title = replace(a.title, 'Oak', 'Fir') from catalog_entities e
      where a.entity_id = e.id and ${some(n)}`,
    `update entity_attributes a set description = 'a round table of oak' from catalog_entities e
      where a.entity_id = e.id and ${some(n)}`,
    `update catalog_entities e set status = case status when 'active' then 'draft' else 'active' end where ${some(n)}`,
    `update catalog_entities e set metadata = '{"color":"blue"}' where ${some(n)}`,
    `update catalog_entities e set type = 'service' where ${some(n)}`,
    `insert into entity_brands (organization_id, entity_id, brand_id) select '${organization}', e.id, b.id
      from catalog_entities e, brands b where ${
      some(n)
    } and b.organization_id = '${organization}' on conflict do nothing`,
    `delete from entity_brands l using catalog_entities e where l.entity_id = e.id and ${some(n)}`,
    `insert into entity_attribute_drafts (id, organization_id, entity_id, locale, changes)
      select gen_random_uuid(), organization_id, id, 'en', '{"title":"Oak draft"}' from catalog_entities e where ${
      some(n)
    }
      on conflict do nothing`,
    `delete from catalog_entities e where ${some(10 * n + 7)}`,
    `insert into catalog_entities (id, organization_id, type, slug, status, is_visible, metadata)
      select gen_random_uuid(), '${organization}', 'product', 'thing-oak-' || gen_random_uuid() || ${n}, 'active', true, '{}'`
  ]),
  `update brands set slug = slug || 'x' where organization_id = '${organization}'`,
  `update catalog_entities e set slug = slug where organization_id = '${organization}'`
]

const few = { page: 1, limit: 5, attributes: [], facets: ["type", "brand", "status", "color"] } satisfies SearchQuery

const questions: ReadonlyArray<readonly [SearchQuery, isPublic: boolean]> = [
  [{ ...few, q: "oak" }, true],
  [{ ...few, q: "oak" }, false],
  [{ ...few, q: "oak", page: 2 }, true],
  [{ ...few, q: "oak table" }, true],
  [{ ...few, q: "a round table of oak" }, false],
  [{ ...few, q: "fir", limit: 50 }, true],
  [{ ...few, q: "thing", type: "service" }, false],
  [{ ...few, type: "product" }, true],
  [{ ...few, status: "draft", page: 2 }, false],
  [{ ...few, brand: "b" }, true],
  [{ ...few, attributes: [{ name: "color", values: ["blue", "red"] }] }, true]
]

const aStoreOfThings = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* aStore(organization)
  yield* sql`insert into brands (id, organization_id, slug, display_name) values (gen_random_uuid(), ${organization}, 'b', 'B')`
  yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible, metadata)
    select gen_random_uuid(), ${organization}, 'product', 'thing-' || n, 'active', true, '{"color":"red"}'
    from generate_series(1, 80) n`
  yield* sql`insert into entity_attributes (id, organization_id, entity_id, locale, title)
    select gen_random_uuid(), organization_id, id, 'en', 'Fir ' || (array['table', 'lamp', 'oak'])[1 + n % 3] || n
    from (select *, substr(slug, 7)::int as n from catalog_entities where organization_id = ${organization}) e`
})

it.layer(engineLayer, { excludeTestServices: true })("answers that are brought up to date", (it) => {
  for (const seed of [1, 2]) {
    it.effect(`are those that would be found anew, after any changes (${seed})`, () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        if (seed === 1) yield* aStoreOfThings
        const ways = { changes: 0, index: 0, memory: 0 }
        const done = drawn(changes, 18, seed)
        for (const [n, change] of done.entries()) {
          const together = n % 3 === 2 ? [change, done[n - 1] ?? change] : [change]
          yield* sql.withTransaction(Effect.forEach(together, (statement) => sql.unsafe(statement)))
          for (const [query, isPublic] of questions) {
            const sent = yield* statementsOf(ask(query, isPublic))
            const last = sent.at(-1)?.[0] ?? ""
            ways[last.includes("search_former") ? "changes" : last.includes("search_words") ? "index" : "memory"]++
            const about = `${JSON.stringify(query)} after ${change}`
            assert.deepStrictEqual(yield* ask(query, isPublic), yield* askAnew(query, isPublic), about)
          }
        }
        assert.isAbove(ways.changes, 18 * 4, JSON.stringify(ways))
      }).pipe(as(organization)))
  }
})
