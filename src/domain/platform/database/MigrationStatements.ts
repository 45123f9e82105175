import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/**
 * Migrations of one owner (a module or a plugin) by numbered name, `0001_name`. Every owner has a ledger table
 * `<owner>_migrations`, so that a new module edits no central list. Steps must be additive: an older process can still
 * run against the new tables during a rolling deployment.
 */
export type Migrations = Readonly<
  Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>
>

/** Runs schema statements one after the other; the driver takes one statement per round trip. */
export const statements = (...texts: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.forEach(texts, (text) => sql.unsafe(text), { discard: true }))

/**
 * Schema statements that remove what the service read or wrote up to and including a version (`0.2.0`). They belong into a
 * later version than that, because both run side by side during an upgrade (docs/operations.md): a test refuses them
 * earlier, and refuses statements that remove something without this.
 */
export const contract = (lastUsedBy: string, ...texts: ReadonlyArray<string>) =>
  statements(...texts.map((text) => `/* last used by ${lastUsedBy} */ ${text}`))
