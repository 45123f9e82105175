import { Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** Tells a failure that rolls the transaction back from a failure of the database. */
class RolledBack<E> extends Data.TaggedError("RolledBack")<{ readonly error: E }> {}

/** Transactions over several repositories of the catalog. */
export class CatalogTransactionRepo extends Context.Service<CatalogTransactionRepo, {
  /** A failure rolls back everything that was written. */
  readonly run: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>()("stoa/domain/catalog/CatalogTransactionRepo") {
  static readonly layer = Layer.effect(
    CatalogTransactionRepo,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      run: <A, E, R>(work: Effect.Effect<A, E, R>) =>
        sql.withTransaction(Effect.mapError(work, (error) => new RolledBack<E>({ error }))).pipe(
          Effect.catch((error) => error._tag === "RolledBack" ? Effect.fail(error.error) : Effect.die(error))
        )
    }))
  )
}
