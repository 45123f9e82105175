import { Effect, Option } from "effect"
import type { SqlClient, Statement } from "effect/sql"

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
