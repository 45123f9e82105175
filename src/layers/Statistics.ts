import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { decoding } from "../domain/platform/records/Rows.ts"

const fewRows = 500

/**
 * Keeps statistics of young tables current: statements are prepared once, so a plan made on an empty table would stay.
 * Autovacuum looks once a minute; a new store writes a hundred thousand rows by then. New statistics replan on every
 * connection.
 */
export class Statistics extends Context.Service<Statistics, {
  readonly refresh: Effect.Effect<number, SqlError.SqlError>
}>()("stoa/layers/Statistics") {
  static readonly layer = Layer.effect(
    Statistics,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const doubled = decoding(sql, Schema.Struct({ name: Schema.String }))`select s.relname as name
        from pg_stat_user_tables s join pg_class c on c.oid = s.relid
        where s.schemaname = current_schema() and s.n_mod_since_analyze > ${fewRows}
          and s.n_mod_since_analyze > c.reltuples`
      return {
        refresh: Effect.flatMap(doubled, (tables) =>
          Effect.as(
            Effect.forEach(tables, ({ name }) => sql`analyze ${sql(name)}`, { discard: true }),
            tables.length
          ))
      }
    })
  )
}
