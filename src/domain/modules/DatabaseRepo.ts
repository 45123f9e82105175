import { Effect, Option } from "effect"
import type { SqlClient, Statement } from "effect/sql"

/**
 * The database as hooks and plugins get it. Its statements belong to the transaction of whoever runs them, where there
 * is one, and each is a transaction of its own otherwise.
 */
export type Database = SqlClient.SqlClient

/** Common table expressions, separated by commas, for the `with` of somebody else's statement. */
export type StatementParts = Statement.Fragment

/** Whether the caller is inside of a transaction of this database. */
export const inTransaction = (database: Database): Effect.Effect<boolean> =>
  Effect.map(Effect.serviceOption(database.transactionService), Option.isSome)

/**
 * Work whose failure the caller survives: inside of a transaction it stands behind a savepoint, because a statement that
 * fails there would otherwise take the whole transaction with it.
 */
export const survivable = <A, E, R>(database: Database, work: Effect.Effect<A, E, R>): Effect.Effect<A, unknown, R> =>
  Effect.flatMap(inTransaction(database), (inside) => inside ? database.withTransaction(work) : work)
