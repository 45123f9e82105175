import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"

/** Tables of the deployment, not of a tenant; `search_stale` holds ids within one transaction only. */
const common =
  /^(organizations|users|sessions|user_accounts|verifications|two_factors|cluster_.*|worker_slots|scheduler_ticks|outbox_relay|rate_limit_counters|search_fields|search_stale|plugin_tables|.*migrations.*)$/

interface Table {
  readonly name: string
  readonly owned: boolean
}

const allTables = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql<Table>`select t.table_name as name, exists (select 1 from information_schema.columns c
      where c.table_schema = t.table_schema and c.table_name = t.table_name and c.column_name = 'organization_id') as owned
    from information_schema.tables t where t.table_schema = 'public' and t.table_type = 'BASE TABLE' order by 1`
)

const inApp = <A, E>(body: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  onDatabase((sql) => Effect.provideService(Effect.orDie(body), SqlClient.SqlClient, sql))

/** Every table, and whether its rows have an organization. */
export const tables = inApp(allTables)

/** Tables of tenants without an organization; there should be none. */
export const ownerless = Effect.map(
  tables,
  (all) => all.filter(({ name, owned }) => !owned && !common.test(name)).map(({ name }) => name)
)

/** Waits until every entry of the change log has its position: nothing changes by itself any more. */
export const changeLogAtRest = onDatabase((sql) =>
  Effect.repeat(sql`select 1 from outbox_events where position is null limit 1`, {
    until: (waiting) => waiting.length === 0
  })
)

/** All rows of an organization as text, by table. */
export const rowsOf = Effect.fnUntraced(function*(organization: string) {
  const sql = yield* SqlClient.SqlClient
  // Totals of lists are moved from table to table meanwhile, and say nothing that the rows do not say.
  const owned = (yield* allTables).filter(({ name, owned }) => owned && !/^list_(totals|changes)$/.test(name))
  const rows = yield* Effect.forEach(owned, ({ name }) =>
    Effect.map(
      sql<{ row: string }>`select t::text as row from ${
        sql(name)
      } t where organization_id = ${organization} order by 1`,
      (found) => found.map(({ row }) => `${name}: ${row}`)
    ))
  // The scheduler enqueues these tasks each minute or hour, beside every test.
  const scheduled = yield* sql<{ task: string }>`select task_slug as task from scheduler_ticks`
  return rows.flat().filter((row) => scheduled.every(({ task }) => !row.includes(`,${task},`)))
})

/** The same of a running service: two footprints are equal when nothing of the organization has changed. */
export const footprintOf = (organization: string) => Effect.andThen(changeLogAtRest, inApp(rowsOf(organization)))
