import { DateTime, Effect, Schema, String } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, systemActor } from "../../domain/platform/access/Actor.ts"
import { changeLogInsert } from "../../domain/platform/events/ChangeLogRepo.ts"
import type { Change } from "../../domain/platform/events/Event.ts"
import { decoding } from "../../domain/platform/records/Rows.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { demoRows } from "./DemoRows.ts"

type SeedRows = Readonly<Record<string, ReadonlyArray<object>>>

const seedLock = 4_821_008

const insert = (sql: SqlClient.SqlClient, table: string, records: ReadonlyArray<object>) => {
  const columns = sql.literal(Object.keys(records[0] ?? {}).map(String.camelToSnake).join(", "))
  const rows = records.map((record) =>
    Object.fromEntries(Object.entries(record).map(([field, value]) => [String.camelToSnake(field), value]))
  )
  return sql`insert into ${sql(table)} (${columns})
    select ${columns} from jsonb_populate_recordset(null::${sql(table)}, ${JSON.stringify(rows)}::jsonb)`
}

/**
 * Writes a first catalog with its change log in one transaction. False, without writing, when the organization has a
 * catalog or does not exist.
 */
const seedOnce = Effect.fn("DemoStoreRepo.seedOnce")(
  function*(actor: Actor, rows: SeedRows, changes: ReadonlyArray<Change>) {
    const sql = yield* SqlClient.SqlClient
    return yield* sql.withTransaction(Effect.gen(function*() {
      yield* sql`select pg_advisory_xact_lock(${seedLock})`
      const [found] = yield* decoding(sql, Schema.Struct({ empty: Schema.Boolean }))`select not exists (
          select 1 from catalog_entities where organization_id = o.id) as empty
        from organizations o where o.id = ${actor.organizationId}`
      if (found?.empty !== true) return false
      for (const [table, records] of Object.entries(rows)) {
        if (records.length > 0) yield* insert(sql, table, records)
      }
      yield* changeLogInsert(sql, actor, changes)
      return true
    }))
  },
  Effect.orDie
)

/** Fills an empty store with demo products, prices, stock and promotions. Safe when two processes start at once. */
export const seedDemoStore = Effect.gen(function*() {
  const { defaultOrganizationId } = yield* StoreSettings
  const now = DateTime.toDateUtc(yield* DateTime.now)
  const { events, rows } = demoRows(defaultOrganizationId, now)
  const seeded = yield* seedOnce(systemActor(defaultOrganizationId, "system:seed"), rows, events)
  yield* Effect.logInfo(
    seeded
      ? `demo store: ${rows.catalog_entities.length} products, ${rows.variants.length} variants, promotion WELCOME10`
      : "demo store: not needed, the store has a catalog"
  )
})
