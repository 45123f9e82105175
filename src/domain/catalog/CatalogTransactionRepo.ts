import { Context, Data, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** Carries a refusal out of a transaction, which undoes it, past the failures of the database itself. */
class Undone<E> extends Data.TaggedError("Undone")<{ readonly error: E }> {}

/** Changes of the catalog that need several statements of several repositories. */
export class CatalogTransactionRepo extends Context.Service<CatalogTransactionRepo, {
  /** All or nothing: a refusal undoes what was written before it. */
  readonly run: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>()("stoa/domain/catalog/CatalogTransactionRepo") {
  static readonly layer = Layer.effect(
    CatalogTransactionRepo,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      run: <A, E, R>(work: Effect.Effect<A, E, R>) =>
        sql.withTransaction(Effect.mapError(work, (error) => new Undone<E>({ error }))).pipe(
          Effect.catch((error) => error._tag === "Undone" ? Effect.fail(error.error) : Effect.die(error))
        )
    }))
  )
}
