import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, Statement } from "effect/sql"
import { decoding } from "../records/Rows.ts"

/**
 * SQL that counts an organization's rows by the counters of `countedBy`; `parts` limits it to values or a condition on
 * `part`.
 */
export const totalOf = (
  sql: SqlClient.SqlClient,
  organization: string,
  table: string,
  parts?: ReadonlyArray<string> | Statement.Fragment
): Statement.Fragment => {
  const mine = sql.and([
    sql`organization_id = ${organization}`,
    sql`list = ${sql.literal(`'${table}'`)}`,
    ...(parts === undefined ? [] : [Statement.isFragment(parts) ? parts : sql`part = any(${parts}::text[])`])
  ])
  return sql`(select coalesce(sum(rows), 0)::int8 from (
    select rows from list_totals where ${mine} union all select rows from list_changes where ${mine}) counted)`
}

export class ListTotalsRepo extends Context.Service<ListTotalsRepo>()("stoa/domain/platform/paging/ListTotalsRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const moved = decoding(sql, Schema.Struct({ moved: Schema.Int }))

    /**
     * Adds at most `limit` changes to their totals; returns how many. One statement: no reader sees a change twice or
     * never. Skips changes that another call moves.
     */
    const fold = Effect.fn("ListTotalsRepo.fold")(function*(limit: number) {
      const [row] = yield* moved`with gone as (
          delete from list_changes where ctid = any(array(
            select ctid from list_changes limit ${limit} for update skip locked))
          returning organization_id, list, part, rows),
        folded as (
          insert into list_totals as t (organization_id, list, part, rows)
          select organization_id, list, part, sum(rows) from gone group by 1, 2, 3 order by 1, 2, 3
          on conflict (organization_id, list, part) do update set rows = t.rows + excluded.rows)
        select count(*)::int4 as moved from gone`
      yield* sql`delete from list_totals where rows = 0`
      return row?.moved ?? 0
    }, Effect.orDie)

    return { fold }
  })
}) {
  static readonly layer = Layer.effect(ListTotalsRepo, ListTotalsRepo.make)
}
