import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** What the index holds, and what it would hold if it were made anew from the catalog. */
const kept = (table: string, build: string, columns: string) =>
  `select (select coalesce(jsonb_agg(to_jsonb(k) order by to_jsonb(k)::text), '[]') from (select ${columns} from ${table}) k) as kept,
    (select coalesce(jsonb_agg(to_jsonb(b) order by to_jsonb(b)::text), '[]') from (select ${columns}
      from ${build}(array(select id from catalog_entities))) b) as built`

const documents = kept(
  "search_documents",
  "search_build",
  "organization_id, entity_id, cell, is_public, type, status, sort_title, categories, brands, attributes, title_words::text"
)

const words = kept(
  "search_words",
  "search_build",
  "organization_id, entity_id, cell, shade, is_public, sort_title, marks, words::text"
)

const titles = kept(
  "search_titles",
  "search_titles_build",
  "organization_id, entity_id, locale, is_public, type, sort_title, title"
)

/** The index says of every organization what one made from scratch would say; gives how many documents it has. */
export const expectTrueIndex = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, when: string) {
  interface Sides {
    readonly kept: ReadonlyArray<unknown>
    readonly built: ReadonlyArray<unknown>
  }
  const [found] = yield* sql.unsafe<Sides>(documents)
  assert.deepStrictEqual(found?.kept, found?.built, `documents ${when}`)
  const [worded] = yield* sql.unsafe<Sides>(words)
  assert.deepStrictEqual(worded?.kept, worded?.built, `words ${when}`)
  const [named] = yield* sql.unsafe<Sides>(titles)
  assert.deepStrictEqual(named?.kept, named?.built, `titles ${when}`)
  return found?.kept.length ?? 0
})
