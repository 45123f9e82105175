import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestDatabase } from "../support/Postgres.ts"

/** Products with words, a category and a variant, by one statement as an import writes them. */
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

it.layer(TestDatabase)("the search index", (it) => {
  it.effect("builds all documents of a transaction once, at its end", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into categories (id, organization_id, slug) values (md5('c')::uuid, 'org_default', 'things')`
      const calls = yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`set local track_functions = 'all'`
        yield* written(sql, 0, 2)
        yield* sql`update entity_attributes set subtitle = 'later' where id = md5('w0')::uuid`
        yield* sql`set constraints all immediate`
        return yield* sql`select calls::int4 from pg_stat_xact_user_functions where funcname = 'search_index'`
      }))
      assert.deepStrictEqual(calls, [{ calls: 1 }])
      const found = yield* sql`select categories, words @@ 'thing & 0 & sku & later' as is_first
        from search_documents order by sort_title`
      assert.deepStrictEqual(found, [{ categories: ["things"], is_first: true }, {
        categories: ["things"],
        is_first: false
      }])
    }))

  it.effect("normalizes words with and without accents, between any separators", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [normalized] = yield* sql`select search_normalize('Crème—Brûlée, “weiß”:3·4 x') as text`
      assert.deepStrictEqual(normalized, { text: "creme brulee weiss 3 4 x" })
      yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
        select md5('a' || n)::uuid, 'org_default', 'product', 'dish-' || n, 'active', true from generate_series(1, 2) n`
      yield* sql`insert into entity_attributes (id, organization_id, entity_id, locale, title, description)
        values (md5('a1')::uuid, 'org_default', md5('a1')::uuid, 'fr', 'Crème—Brûlée', 'très-bon'),
          (md5('a2')::uuid, 'org_default', md5('a2')::uuid, 'en', 'Creme (brulee)', 'tres-bon')`
      const found = yield* sql`select title_words @@ 'creme & brulee' as title, words @@ 'tres & bon' as body
        from search_documents where entity_id in (md5('a1')::uuid, md5('a2')::uuid)`
      assert.deepStrictEqual(found, Array.from({ length: 2 }, () => ({ title: true, body: true })))
    }))

  it.effect("reads no other documents and words on a write, with plans that were made while it was empty", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [count, batches, singles] = [200, 8, 50]
      // One connection with cached plans, and no new statistics that would invalidate them.
      yield* sql.withTransaction(Effect.gen(function*() {
        const write = (from: number, count: number) =>
          Effect.andThen(
            written(sql, from, count),
            sql`set constraints all immediate`
          )
        for (let batch = 0; batch < batches; batch++) yield* write(2 + batch * count, count)
        for (let n = 0; n < singles; n++) yield* write(2 + batches * count + n, 1)
        const reads = yield* sql<{ table: string; n: number }>`select relname as table,
            (coalesce(idx_tup_fetch, 0) + seq_tup_read)::int4 as n from pg_stat_xact_user_tables
          where relname in ('search_documents', 'search_vocabulary', 'search_stale') order by 1`
        assert.deepStrictEqual(reads.map(({ table }) => table), [
          "search_documents",
          "search_stale",
          "search_vocabulary"
        ])
        for (const { n, table } of reads) assert.isBelow(n, 10 * (batches * count + singles), table)
      }))
    }))
})
