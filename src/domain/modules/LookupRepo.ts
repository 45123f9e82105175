import { Context, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"

/**
 * A client for short, indexed, read-only lookups. It pipelines statements of many requests over one connection, which
 * saves system calls and doubles or triples the read throughput. A slow statement delays those after it, so unindexed
 * lists, writes and transactions use `SqlClient`. It reads committed data, never inside the caller's transaction.
 */
export class LookupSql extends Context.Service<LookupSql, SqlClient.SqlClient>()("stoa/domain/modules/LookupSql") {}

/** The lookup client if the process has one, else the ordinary client: tests and tools need no second pool. */
export const lookupSql: Effect.Effect<SqlClient.SqlClient, never, SqlClient.SqlClient> = Effect.flatMap(
  Effect.serviceOption(LookupSql),
  Option.match({ onNone: () => SqlClient.SqlClient, onSome: Effect.succeed })
)
