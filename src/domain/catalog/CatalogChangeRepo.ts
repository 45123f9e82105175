import { Context, Effect, Layer } from "effect"
import { SqlClient, SqlError, type Statement } from "effect/sql"
import type { Actor } from "../platform/access/Actor.ts"
import { changeLogRows, type Written } from "../platform/events/ChangeLogRepo.ts"

/** Transactions over several repositories of the catalog. */
export class CatalogTransactionRepo
  extends Context.Service<CatalogTransactionRepo>()("stoa/domain/catalog/CatalogTransactionRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => ({
      /** A failure rolls back everything that was written. */
      run: <A, E, R>(work: Effect.Effect<A, E, R>) => inTransaction(sql, work)
    }))
  })
{
  static readonly layer = Layer.effect(CatalogTransactionRepo, CatalogTransactionRepo.make)
}

/** A transaction whose database failures are defects. */
export const inTransaction = <A, E, R>(sql: SqlClient.SqlClient, work: Effect.Effect<A, E, R>) =>
  Effect.catchIf(sql.withTransaction(work), SqlError.isSqlError, (error) => Effect.die(error))

/** How the rows of a part of a statement are recorded. */
interface RowChange extends Pick<Written, "type" | "entityType"> {
  /** A row as the API shows it. */
  readonly json: (row: "x" | "o") => string | Statement.Fragment
  /** The part that returns the written rows. */
  readonly source: string
  /** The part with the rows before the change. */
  readonly old?: string | undefined
}

/** Writes a change log entry for each row of `source`: `with x as (update … returning *), entry as (${…})`. */
export const changeEntry = (sql: SqlClient.SqlClient, actor: Actor, { json, old, source, ...change }: RowChange) =>
  changeLogRows(sql, actor, {
    ...change,
    entityId: "x.id::text",
    payload: json("x"),
    before: old === undefined ? undefined : json("o"),
    from: old === undefined ? `${source} x` : `${source} x join ${old} o on o.id = x.id`
  })
