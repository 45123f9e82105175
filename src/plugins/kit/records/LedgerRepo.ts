import { DateTime, Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { type Actor, CurrentActor } from "../../../domain/platform/access/Actor.ts"
import { inTransaction } from "../../../domain/platform/database/DatabaseRepo.ts"
import { changeLogRows } from "../../../domain/platform/events/ChangeLogRepo.ts"
import { refusalOf, sqlStates } from "../../../domain/platform/records/Constraints.ts"
import type { PluginDatabase } from "../tables/PluginDatabase.ts"
import type { RowOf, Table } from "../tables/Table.ts"
import { rowJson, rowReader } from "../tables/TableRowsRepo.ts"
import { whereSql } from "../tables/TableWhereRepo.ts"
import type { Hold, LedgerTables, Posting, Settling } from "./LedgerTables.ts"

const readRows = <T extends Table>(table: T, rows: Statement.Statement<Readonly<Record<string, unknown>>>) => {
  const read = rowReader(table)
  // The columns are those that the type of the row was made of.
  return Effect.map(rows, (all) => all.map((row) => read(row) as RowOf<T>))
}

/**
 * Runs a statement again when a second one of the same reference was written at the same time: now it finds the first one.
 * Inside of a transaction the first attempt needs a savepoint.
 */
const orFindFirst = <A>(sql: SqlClient.SqlClient, statement: Effect.Effect<A, SqlError.SqlError>) =>
  Effect.flatMap(inTransaction(sql), (inside) => inside ? sql.withTransaction(statement) : statement).pipe(
    Effect.catchIf((error) => refusalOf(error).state === sqlStates.unique, () => statement),
    Effect.orDie
  )

/**
 * Runs a statement that was refused again: one of the same reference may have taken the balance while this one waited for
 * the account, and a new statement finds it.
 */
const orLookAgain = <A>(
  sql: SqlClient.SqlClient,
  statement: Effect.Effect<ReadonlyArray<A>, SqlError.SqlError>,
  count: number
) => {
  const once = orFindFirst(sql, statement)
  return Effect.flatMap(once, (rows) => rows.length < count ? once : Effect.succeed(rows))
}

// Each statement locks a hold before its account, and accounts in the order of their ids.

/** An entry for each row of `moved`, and its part of the change log. */
const entryOf = ({ entries }: LedgerTables, { plugin, sql }: PluginDatabase, actor: Actor, values: string) => {
  const names = "account_id, number, type, amount, balance_after, reference, order_id, note"
  const subject = `${plugin}/${entries.name}` as const
  return sql`made as (insert into ${sql(entries.name)} (${sql.literal(names)})
      select ${sql.literal(values)} from moved m returning *),
    logged as (${
    changeLogRows(sql, actor, {
      type: `${subject}.create`,
      entityType: subject,
      entityId: "made.id::text",
      payload: rowJson(entries, "made"),
      from: "made"
    })
  })`
}

/** Writes entries: all of them, or those alone that are known by their references. */
export const postEntries = Effect.fnUntraced(function*(
  tables: LedgerTables,
  db: PluginDatabase,
  postings: ReadonlyArray<Posting>
) {
  const { account, entries, floor } = tables
  if (postings.length === 0) return []
  const [{ sql }, actor] = [db, yield* CurrentActor]
  const [accounts, entryTable] = [sql(account.name), sql(entries.name)]
  const values = "m.id, m.version, m.type, m.amount, m.balance, m.reference, m.order_id, m.note"
  const statement = readRows(
    entries,
    sql`with input as materialized (select a.id, i.amount, i.type, i.reference, i."orderId" as order_id, i.note
        from jsonb_to_recordset(${JSON.stringify(postings)}::jsonb)
          as i("accountId" uuid, amount bigint, type text, reference text, "orderId" uuid, note text)
        join ${accounts} a on a.id = i."accountId" and a.organization_id = ${actor.organizationId}),
      known as (select e.* from ${entryTable} e join input i on i.id = e.account_id and i.reference = e.reference),
      same as (select 1 from known e join input i on i.id = e.account_id and i.amount = e.amount and i.type = e.type),
      locked as materialized (select a.id, a.balance - a.held as available from ${accounts} a
        where a.id in (select id from input) and a.id not in (select account_id from known) order by a.id for update),
      able as (select i.* from input i join locked l on l.id = i.id
        where i.amount > 0 or l.available + i.amount >= ${floor}),
      moved as (update ${accounts} a set balance = a.balance + i.amount, version = a.version + 1, updated_at = now()
        from able i where a.id = i.id
          and (select count(*) from able) + (select count(*) from same) = ${postings.length}
        returning a.id, a.version, a.balance, i.type, i.amount, i.reference, i.order_id, i.note),
      ${entryOf(tables, db, actor, values)}
      select * from made union all select * from known`
  )
  return yield* orLookAgain(sql, statement, postings.length)
})

/** Sets an amount aside; undefined when the account cannot, or may not by `only`. */
export const placeHold = Effect.fnUntraced(function*(
  { account, floor, holds }: LedgerTables,
  { sql }: PluginDatabase,
  one: Pick<Hold, "accountId" | "amount" | "expiresAt" | "reference"> & {
    readonly orderId?: string | null | undefined
  },
  only: Readonly<Record<string, unknown>>
) {
  const { organizationId } = yield* CurrentActor
  const { accountId, amount, expiresAt, orderId = null, reference } = one
  const may = [
    sql`t.id = ${accountId}::uuid`,
    sql`t.organization_id = ${organizationId}`,
    sql`t.balance - t.held - ${amount}::bigint >= ${floor}`,
    sql`not exists (select 1 from known)`,
    ...whereSql(sql, account, only)
  ]
  const statement = readRows(
    holds,
    sql`with known as (select h.* from ${sql(holds.name)} h join ${sql(account.name)} a on a.id = h.account_id
        where h.account_id = ${accountId}::uuid and h.reference = ${reference} and a.organization_id = ${organizationId}),
      moved as (update ${sql(account.name)} t set held = t.held + ${amount}::bigint, updated_at = now()
        where ${sql.and(may)} returning t.id),
      made as (insert into ${sql(holds.name)} (account_id, amount, reference, order_id, expires_at)
        select id, ${amount}::bigint, ${reference}, ${orderId}::uuid, ${expiresAt} from moved returning *)
      select * from made union all select * from known`
  )
  return (yield* orLookAgain(sql, statement, 1))[0]
})

/** The hold of the organization, locked. */
const found = ({ account, holds }: LedgerTables, sql: SqlClient.SqlClient, organizationId: string, holdId: string) =>
  sql`found as materialized (select h.* from ${sql(holds.name)} h join ${sql(account.name)} a on a.id = h.account_id
    where h.id = ${holdId}::uuid and a.organization_id = ${organizationId} for update of h)`

/** Takes an amount of a hold; the hold is as it was where that is not possible. */
export const captureHold = Effect.fnUntraced(function*(
  tables: LedgerTables,
  db: PluginDatabase,
  holdId: string,
  { amount, note, type }: Settling
) {
  const { account, floor, holds } = tables
  const [{ sql }, actor] = [db, yield* CurrentActor]
  const values = "m.id, m.version, m.type, -m.captured, m.balance, 'capture:' || m.hold_id, m.order_id, m.note"
  const [row] = yield* readRows(
    holds,
    sql`with ${found(tables, sql, actor.organizationId, holdId)},
      moved as (update ${sql(account.name)} a set balance = a.balance - ${amount}::bigint, version = a.version + 1,
          held = a.held - case f.status when 'held' then f.amount else 0 end, updated_at = now()
        from found f where a.id = f.account_id and f.status in ('held', 'expired')
          and ${amount}::bigint between 1 and f.amount
          and a.balance - a.held + case f.status when 'held' then f.amount else 0 end - ${amount}::bigint >= ${floor}
        returning a.id, a.version, a.balance, f.id as hold_id, f.order_id, ${amount}::bigint as captured,
          ${type}::text as type, ${note ?? null}::text as note),
      closed as (update ${sql(holds.name)} h set status = 'captured', captured = m.captured from moved m
        where h.id = m.hold_id returning h.*),
      ${entryOf(tables, db, actor, values)}
      select * from closed union all select * from found where not exists (select 1 from moved)`
  )
  return row
}, Effect.orDie)

/** Frees a hold that is not captured. */
export const releaseHold = Effect.fnUntraced(function*(tables: LedgerTables, { sql }: PluginDatabase, holdId: string) {
  const { account, holds } = tables
  const [row] = yield* readRows(
    holds,
    sql`with ${found(tables, sql, (yield* CurrentActor).organizationId, holdId)},
      freed as (update ${sql(account.name)} a set held = a.held - f.amount, updated_at = now() from found f
        where a.id = f.account_id and f.status = 'held'),
      closed as (update ${sql(holds.name)} h set status = 'released' from found f
        where h.id = f.id and f.status in ('held', 'expired') returning h.*)
      select * from closed union all select * from found where not exists (select 1 from closed)`
  )
  return row
}, Effect.orDie)

/** Frees holds of all organizations whose time is over, 1,000 at most. */
export const releaseDueHolds = Effect.fn("Ledger.releaseDue")(function*(
  { account, holds }: LedgerTables,
  { sql }: PluginDatabase
) {
  const now = DateTime.toDateUtc(yield* DateTime.now)
  const rows = yield* sql`with due as materialized (select h.id, h.account_id, h.amount from ${sql(holds.name)} h
      where h.status = 'held' and h.expires_at <= ${now} order by h.account_id, h.id limit 1000
      for update skip locked),
    locked as materialized (select a.id from ${sql(account.name)} a where a.id in (select account_id from due)
      order by a.id for update),
    freed as (update ${sql(account.name)} a set held = a.held - d.amount, updated_at = now()
      from (select account_id, sum(amount) as amount from due group by account_id) d join locked l on l.id = d.account_id
      where a.id = d.account_id)
    update ${sql(holds.name)} h set status = 'expired' from due where h.id = due.id returning h.id`
  return rows.length
}, Effect.orDie)
