import type { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/**
 * Migrations of one owner (a module or a plugin) by numbered name, `0001_name`. Each owner has its own ledger table
 * `<owner>_migrations`, so adding a module edits no central list. Steps are additive: an older process may still be
 * running against the new tables during a rolling deployment.
 */
export type Migrations = Readonly<
  Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>
>
