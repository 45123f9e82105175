import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Makes rows in numbers, for what is to be asked of a large table: without its triggers and without looking up what they
 * refer to, which is most of what such rows cost. A test that needs rows that a trigger makes inserts those too.
 */
export const inBulk = <A, E, R>(fill: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql.withTransaction(Effect.andThen(sql`set local session_replication_role = replica`, fill))
  )
