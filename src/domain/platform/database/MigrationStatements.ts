import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/**
 * Migrations of one owner by `0001_name`; its ledger is `<owner>_migrations`. Steps are additive: older processes run
 * against the new tables.
 */
export type Migrations = Readonly<
  Record<string, Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient>>
>

/** One statement per round trip: the driver takes no more. */
export const statements = (...texts: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.forEach(texts, (text) => sql.unsafe(text), { discard: true }))

/**
 * Removes what versions up to `lastUsedBy` (`0.2.0`) used. Belongs in a later version, since both run side by side
 * during an upgrade; a test enforces it.
 */
export const contract = (lastUsedBy: string, ...texts: ReadonlyArray<string>) =>
  statements(...texts.map((text) => `/* last used by ${lastUsedBy} */ ${text}`))
