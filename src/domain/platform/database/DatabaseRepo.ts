import { Context, Effect, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"

/**
 * The database as hooks and plugins receive it. Statements join the caller's transaction if there is one; otherwise
 * each is a separate transaction.
 */
export type Database = SqlClient.SqlClient

/** Common table expressions, separated by commas, for the `with` of another module's statement. */
export type StatementParts = Statement.Fragment

/** Whether the caller is inside of a transaction of this database. */
export const inTransaction = (database: Database): Effect.Effect<boolean> =>
  Effect.map(Effect.serviceOption(database.transactionService), Option.isSome)

/**
 * Work whose failure the caller survives: inside a transaction it runs in a savepoint, because a failed statement would
 * otherwise abort the transaction.
 */
export const survivable = <A, E, R>(database: Database, work: Effect.Effect<A, E, R>): Effect.Effect<A, unknown, R> =>
  Effect.flatMap(inTransaction(database), (inside) => inside ? database.withTransaction(work) : work)

/**
 * A client for short, indexed, read-only lookups. It pipelines statements of many requests over one connection, which
 * saves system calls and doubles or triples the read throughput. A slow statement delays those after it, so unindexed
 * lists, writes and transactions use `SqlClient`. It reads committed data, never inside the caller's transaction.
 */
export class LookupSql
  extends Context.Service<LookupSql, SqlClient.SqlClient>()("stoa/domain/platform/database/LookupSql")
{}

/** The lookup client if the process has one, else the ordinary client: tests and tools need no second pool. */
export const lookupSql: Effect.Effect<SqlClient.SqlClient, never, SqlClient.SqlClient> = Effect.flatMap(
  Effect.serviceOption(LookupSql),
  Option.match({ onNone: () => SqlClient.SqlClient, onSome: Effect.succeed })
)
