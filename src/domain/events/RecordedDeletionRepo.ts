import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import type { Table } from "../records/Table.ts"
import { changeLogInsert } from "./ChangeLogRepo.ts"
import type { Change } from "./Event.ts"

/**
 * Deletes a row of the organization of the request by its id, and writes the change log entry and the idempotency
 * record in the same transaction. `only` narrow the row further. Returns the row, or undefined when there is none.
 */
export const deleteRecorded = <A extends object>(
  sql: SqlClient.SqlClient,
  table: Table<A>,
  id: string,
  recorded: (deleted: A) => Change,
  ...only: ReadonlyArray<Statement.Fragment>
) =>
  sql.withTransaction(Effect.gen(function*() {
    const actor = yield* CurrentActor
    const [row] = yield* table.rows(sql)`delete from ${sql(table.name)}
      where ${sql.and([sql`id = ${id}::uuid`, sql`organization_id = ${actor.organizationId}`, ...only])}
      returning ${sql.literal(table.columns())}`
    if (row !== undefined) {
      yield* sql`with event as (${changeLogInsert(sql, actor, [recorded(row)])})${
        idempotencyRecord(sql, actor)
      } select 1`
    }
    return row
  }))
