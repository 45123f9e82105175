import type { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/**
 * Migrations of one owner (a module or a plugin) by numbered name, `0001_name`. Every owner has a ledger table
 * `<owner>_migrations`, so that a new module edits no central list. Steps must be additive: an older process can still
 * run against the new tables during a rolling deployment.
 */
export type Migrations = Readonly<
  Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>
>
