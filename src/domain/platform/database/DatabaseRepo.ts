import { Context, Effect, Option } from "effect"
import { SqlClient, type Statement } from "effect/sql"

/** The database of hooks and plugins. Statements join the caller's transaction, or are one each. */
export type Database = SqlClient.SqlClient

export type StatementParts = Statement.Fragment

export const inTransaction = (database: Database): Effect.Effect<boolean> =>
  Effect.map(Effect.serviceOption(database.transactionService), Option.isSome)

/** Runs work in a savepoint inside a transaction: its failure would otherwise abort the transaction. */
export const survivable = <A, E, R>(database: Database, work: Effect.Effect<A, E, R>): Effect.Effect<A, unknown, R> =>
  Effect.flatMap(inTransaction(database), (inside) => inside ? database.withTransaction(work) : work)

/**
 * A client for short, indexed lookups, pipelined over one connection: two to three times the throughput. A slow
 * statement delays all after it. It reads committed data, never the caller's transaction.
 */
export class LookupSql
  extends Context.Service<LookupSql, SqlClient.SqlClient>()("stoa/domain/platform/database/LookupSql")
{}

export const lookupSql: Effect.Effect<SqlClient.SqlClient, never, SqlClient.SqlClient> = Effect.flatMap(
  Effect.serviceOption(LookupSql),
  Option.match({ onNone: () => SqlClient.SqlClient, onSome: Effect.succeed })
)
