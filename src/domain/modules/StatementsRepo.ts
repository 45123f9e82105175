import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Runs schema statements one after the other; the driver takes one statement per round trip. */
export const statements = (...texts: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.forEach(texts, (text) => sql.unsafe(text), { discard: true }))
