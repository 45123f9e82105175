import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Somebody of an organization is at all of its rows until the scope closes: whoever wants to change one has to wait. */
export const rowsAreTaken = Effect.fnUntraced(function*(organization: string) {
  const sql = yield* SqlClient.SqlClient
  const owned = yield* sql<{ readonly name: string }>`select table_name as name
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and table_type = 'BASE TABLE' and column_name = 'organization_id'`
  const connection = yield* sql.reserve
  yield* connection.executeRaw("begin", [])
  yield* Effect.addFinalizer(() => Effect.ignore(connection.executeRaw("rollback", [])))
  for (const { name } of owned) {
    yield* connection.executeRaw(`select 1 from ${name} where organization_id = $1 for update`, [organization])
  }
})
