import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { decoding } from "../domain/platform/records/Rows.ts"

/** A table that changed less than this keeps the plans it has. */
const fewRows = 500

/**
 * Keeps the planner's picture of young tables true. Statements are prepared once, so a plan made while a table was
 * empty would serve it when it is full, with any index that cost the same on nothing. Autovacuum looks once a minute; a
 * new store under load has written a hundred thousand rows by then. New statistics make every connection plan again.
 */
export class Statistics extends Context.Service<Statistics, {
  /** Analyzes tables that have more than doubled since they were last looked at; gives how many. */
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
