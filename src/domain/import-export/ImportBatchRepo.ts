import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { ImportBatch, ImportTable } from "./ImportBatch.ts"

/** Writes batches of imports to any table. */
export class ImportBatchRepo extends Context.Service<ImportBatchRepo, {
  /**
   * Writes all rows and the change log in one statement, two with later rows. Dies if another request wrote the same
   * key first.
   */
  readonly write: (batch: ImportBatch) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/import-export/ImportBatchRepo") {
  static readonly layer = Layer.effect(
    ImportBatchRepo,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const writeOne = Effect.fnUntraced(function*({ changes, puts, removals }: ImportBatch) {
        if (puts.size + removals.size + changes.length === 0) return
        const actor = yield* CurrentActor
        const parts = [
          ...[...puts].map(([table, rows]) => put(sql, actor.organizationId, table, rows)),
          ...[...removals].map(([table, rows]) => remove(sql, actor.organizationId, table, rows)),
          sql`entries as (${changeLogInsert(sql, actor, changes)})`
        ]
        // One statement: statement triggers, such as those of the search index, run once for each table.
        yield* sql`with ${parts.reduce((all, part) => sql`${all}, ${part}`)} select 1`
      })
      const write = Effect.fn("ImportBatchRepo.write")(function*(batch: ImportBatch) {
        yield* writeOne(batch)
        if (batch.hasLater) yield* writeOne(batch.later)
      }, Effect.orDie)
      return { write }
    })
  )
}

interface Column {
  readonly field: string
  readonly name: string
  readonly type: string
}

const columnsOf = ({ columns }: ImportTable): ReadonlyArray<Column> =>
  Object.entries(columns).map(([field, text]) => {
    const [type = "", name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = text.split(" ")
    return { field, name, type }
  })

const rowsOf = (sql: SqlClient.SqlClient, columns: ReadonlyArray<Column>, rows: ReadonlyArray<object>) =>
  sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x(${
    sql.literal(columns.map(({ field, type }) => `"${field}" ${type}`).join(", "))
  })`

const put = (sql: SqlClient.SqlClient, organization: string, table: ImportTable, rows: ReadonlyArray<object>) => {
  const columns = columnsOf(table)
  const key = table.key.split(", ")
  const updates = table.updates ??
    columns.map(({ name }) => name).filter((name) => name !== "created_at" && !key.includes(name))
  const conflict = updates.length === 0
    ? sql.literal("on conflict do nothing")
    : sql`on conflict (${sql.literal(table.key)}) do update set ${
      sql.literal(updates.map((name) => name.includes("=") ? name : `${name} = excluded.${name}`).join(", "))
    } where t.organization_id = ${organization}`
  return sql`${sql(`put_${table.name}`)} as (
    insert into ${sql(table.name)} as t (organization_id, ${sql.literal(columns.map(({ name }) => name).join(", "))})
    select ${organization}, ${sql.literal(columns.map(({ field }) => `x."${field}"`).join(", "))}
    from ${rowsOf(sql, columns, lastOfEach(columns.filter(({ name }) => key.includes(name)), rows))} ${conflict})`
}

/** Two records can address one row, and a statement writes a row only once: the last one counts. */
const lastOfEach = (key: ReadonlyArray<Column>, rows: ReadonlyArray<object>): ReadonlyArray<object> => [
  ...new Map(rows.map((row) => [key.map(({ field }) => String(Reflect.get(row, field))).join(" "), row])).values()
]

const remove = (sql: SqlClient.SqlClient, organization: string, table: ImportTable, rows: ReadonlyArray<object>) => {
  const key = table.key.split(", ")
  const columns = columnsOf(table).filter(({ name }) => key.includes(name))
  return sql`${sql(`gone_${table.name}`)} as (delete from ${sql(table.name)} t using ${rowsOf(sql, columns, rows)}
    where t.organization_id = ${organization} and ${
    sql.literal(columns.map(({ field, name }) => `t.${name} = x."${field}"`).join(" and "))
  })`
}
