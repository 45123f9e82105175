import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

const columns = `entity_id, organization_id, is_public, type, status, sort_title, categories, brands, attributes,
  title_words::text, words::text, staff_words::text`

/** Documents of the index, and those that would be made of the catalog from scratch. */
const documents = `select
  (select coalesce(jsonb_agg(to_jsonb(k) order by k.entity_id), '[]') from (select ${columns} from search_documents) k) as kept,
  (select coalesce(jsonb_agg(to_jsonb(b) order by b.entity_id), '[]') from (select ${columns}
    from search_build(array(select id from catalog_entities))) b) as built`

/** The index says of every organization what one made from scratch would say; gives how many documents it has. */
export const expectTrueIndex = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, when: string) {
  const [found] = yield* sql.unsafe<{ readonly kept: ReadonlyArray<unknown>; readonly built: unknown }>(documents)
  assert.deepStrictEqual(found?.kept, found?.built, when)
  assert.lengthOf(yield* sql`select 1 from search_stale`, 0, when)
  return found?.kept.length ?? 0
})
