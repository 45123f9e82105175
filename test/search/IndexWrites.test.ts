import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestDatabase } from "../support/Postgres.ts"

/** So many products from a number on, with words, a category and a variant, by one statement as an import writes them. */
const written = (sql: SqlClient.SqlClient, from: number, count: number) =>
  sql`with numbers as (select n from generate_series(${from}::int, ${from + count - 1}::int) n),
    made as (insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
      select md5('e' || n)::uuid, 'org_default', 'product', 'thing-' || n, 'active', true from numbers),
    words as (insert into entity_attributes (id, organization_id, entity_id, locale, title)
      select md5('w' || n)::uuid, 'org_default', md5('e' || n)::uuid, 'en', 'Thing ' || n from numbers),
    sizes as (insert into variants (id, organization_id, entity_id, sku, status, combination)
      select md5('v' || n)::uuid, 'org_default', md5('e' || n)::uuid, 'SKU-' || n, 'active', 'only' from numbers)
  insert into entity_categories (organization_id, entity_id, category_id)
  select 'org_default', md5('e' || n)::uuid, md5('c')::uuid from numbers`

describe("whoever writes the catalog", () => {
  it.layer(TestDatabase)((it) => {
    it.effect("builds the document of a thing once where one statement brings all of it", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into categories (id, organization_id, slug) values (md5('c')::uuid, 'org_default', 'things')`
        const calls = yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql`set local track_functions = 'all'`
          yield* written(sql, 0, 1)
          return yield* sql`select calls::int4 from pg_stat_xact_user_functions where funcname = 'search_index'`
        }))
        assert.deepStrictEqual(calls, [{ calls: 1 }])
        const [found] =
          yield* sql`select categories, words @@ search_meant('org_default', 'thing & 0 & sku') as has_words
          from search_documents join search_words using (doc)`
        assert.deepStrictEqual(found, { categories: ["things"], has_words: true })
      }))

    it.effect("puts the words of a thing aside, so that searches read short rows", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const look = Effect.map(
          sql`select pg_column_toast_chunk_id(words) is not null and pg_column_toast_chunk_id(marks) is not null as is_aside,
              pg_column_toast_chunk_id(sort_title) is null as is_read_at_once
            from search_words where entity_id = md5('e0')::uuid`,
          ([row]) => assert.deepStrictEqual(row, { is_aside: true, is_read_at_once: true })
        )
        yield* sql`update entity_attributes set description = (select string_agg('word' || n, ' ')
          from generate_series(1, 60) n) where entity_id = md5('e0')::uuid`
        yield* look
        yield* sql`update entity_attributes set title = 'Other thing' where entity_id = md5('e0')::uuid`
        yield* look
      }))

    it.effect("makes words comparable, with accents and without, whatever stands between them", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [folded] = yield* sql`select search_fold('Crème—Brûlée, “weiß”:3·4 x') as text`
        assert.deepStrictEqual(folded, { text: "creme brulee weiss 3 4 x" })
        yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
          select md5('a' || n)::uuid, 'org_default', 'product', 'dish-' || n, 'active', true from generate_series(1, 2) n`
        yield* sql`insert into entity_attributes (id, organization_id, entity_id, locale, title, description)
          values (md5('a1')::uuid, 'org_default', md5('a1')::uuid, 'fr', 'Crème—Brûlée', 'très-bon'),
            (md5('a2')::uuid, 'org_default', md5('a2')::uuid, 'en', 'Creme (brulee)', 'tres-bon')`
        const found =
          yield* sql`select title_words @@ 'creme & brulee' as title, words @@ search_meant('org_default', 'tres & bon') as body 
          from search_documents join search_words using (doc, entity_id) where entity_id in (md5('a1')::uuid, md5('a2')::uuid)`
        assert.deepStrictEqual(found, Array.from({ length: 2 }, () => ({ title: true, body: true })))
      }))

    it.effect("looks at no other documents, though its plans are of a time when there were none", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const [count, batches, singles] = [200, 8, 50]
        // One connection, whose plans stay, and no statistics that would have them made anew.
        yield* sql.withTransaction(Effect.gen(function*() {
          for (let batch = 0; batch < batches; batch++) yield* written(sql, 1 + batch * count, count)
          // And one by one, of which it is also written down what they were.
          for (let n = 1; n <= singles; n++) yield* written(sql, batches * count + n, 1)
          const looks = yield* sql<{ table: string; n: number }>`select relname as table, idx_tup_fetch::int4 as n
            from pg_stat_xact_user_tables
            where relname in ('search_documents', 'search_words', 'search_vocabulary') order by 1`
          assert.deepStrictEqual(looks.map(({ table }) => table), [
            "search_documents",
            "search_vocabulary",
            "search_words"
          ])
          for (const { n, table } of looks) assert.isBelow(n, 10 * (batches * count + singles), table)
        }))
      }))
  })
})
