import { Context, Effect, Layer } from "effect"
import { SqlClient, SqlError, type Statement } from "effect/sql"
import type { Actor } from "../platform/access/Actor.ts"
import { changeLogRows, type Written } from "../platform/events/ChangeLogRepo.ts"

/** Transactions over several repositories of the catalog. */
export class CatalogTransactionRepo
  extends Context.Service<CatalogTransactionRepo>()("stoa/domain/catalog/CatalogTransactionRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => ({
      run: <A, E, R>(work: Effect.Effect<A, E, R>) => inTransaction(sql, work)
    }))
  })
{
  static readonly layer = Layer.effect(CatalogTransactionRepo, CatalogTransactionRepo.make)
}

/** A transaction whose database failures are defects. */
export const inTransaction = <A, E, R>(sql: SqlClient.SqlClient, work: Effect.Effect<A, E, R>) =>
  Effect.catchIf(sql.withTransaction(work), SqlError.isSqlError, (error) => Effect.die(error))

interface RowChange extends Pick<Written, "type" | "entityType"> {
  readonly json: (row: "x" | "o") => string | Statement.Fragment
  readonly source: string
  readonly old?: string | undefined
}

export const changeEntry = (sql: SqlClient.SqlClient, actor: Actor, { json, old, source, ...change }: RowChange) =>
  changeLogRows(sql, actor, {
    ...change,
    entityId: "x.id::text",
    payload: json("x"),
    before: old === undefined ? undefined : json("o"),
    from: old === undefined ? `${source} x` : `${source} x join ${old} o on o.id = x.id`
  })
