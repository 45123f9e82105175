import { Context, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"

/**
 * A client for short, indexed lookups that write nothing. It pipelines the statements of many requests over one
 * connection, which spares system calls and gives two to three times the reads; a slow statement would hold up those
 * behind it, so lists without an index, writes and transactions keep to `SqlClient`. What it reads is committed, never
 * part of a transaction of the caller's.
 */
export class LookupSql extends Context.Service<LookupSql, SqlClient.SqlClient>()("stoa/domain/modules/LookupSql") {}

/** The lookup client where the process has one, else the ordinary client: tests and tools need no second pool. */
export const lookupSql: Effect.Effect<SqlClient.SqlClient, never, SqlClient.SqlClient> = Effect.flatMap(
  Effect.serviceOption(LookupSql),
  Option.match({ onNone: () => SqlClient.SqlClient, onSome: Effect.succeed })
)
