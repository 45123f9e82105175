import { Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** Tells a failure that rolls the transaction back from a failure of the database. */
class RolledBack<E> extends Data.TaggedError("RolledBack")<{ readonly error: E }> {}

/** Transactions over several repositories of the catalog. */
export class CatalogTransactionRepo
  extends Context.Service<CatalogTransactionRepo>()("stoa/domain/catalog/CatalogTransactionRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => ({
      /** A failure rolls back everything that was written. */
      run: <A, E, R>(work: Effect.Effect<A, E, R>) =>
        sql.withTransaction(Effect.mapError(work, (error) => new RolledBack<E>({ error }))).pipe(
          Effect.catch((error) => error._tag === "RolledBack" ? Effect.fail(error.error) : Effect.die(error))
        )
    }))
  })
{
  static readonly layer = Layer.effect(CatalogTransactionRepo, CatalogTransactionRepo.make)
}
