import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { mark } from "../idempotency/MarkRepo.ts"
import type { Change } from "./Event.ts"
import { journalInsert } from "./JournalRepo.ts"

/**
 * Deletes a row of the organization of the request by its id; the journal tells what is gone, and the request's mark
 * stands with it, in the same transaction. Gives the row, undefined when there is none such.
 */
export const deleteTold = <A extends object>(
  sql: SqlClient.SqlClient,
  { columns, table }: { readonly columns: string; readonly table: string },
  id: string,
  told: (deleted: A) => Change
) =>
  sql.withTransaction(Effect.gen(function*() {
    const actor = yield* CurrentActor
    const [row] = yield* sql<A>`delete from ${sql(table)}
      where id = ${id}::uuid and organization_id = ${actor.organizationId} returning ${sql.literal(columns)}`
    if (row !== undefined) {
      yield* sql`with event as (${journalInsert(sql, actor, [told(row)])})${mark(sql, actor)} select 1`
    }
    return row
  }))
