import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted, Schema } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import type { Migrations } from "../domain/platform/database/MigrationStatements.ts"
import { decoding } from "../domain/platform/records/Rows.ts"
import { migrationOwners } from "./modules/Modules.ts"

const migrationLock = 4_821_007

const latestOf = (migrations: Migrations): number =>
  Math.max(0, ...Object.keys(migrations).map((name) => Number.parseInt(name, 10)))

/**
 * Checks all ledgers in two statements: nearly every start finds nothing to do. An unfinished migration counts as
 * missing.
 */
const isUpToDate = Effect.fnUntraced(function*(list: ReadonlyArray<readonly [string, Migrations]>) {
  const sql = yield* SqlClient.SqlClient
  const ledgers = list.map(([owner, migrations]) => ({
    table: `${owner}_migrations`,
    latest: latestOf(migrations)
  }))
  const tables = JSON.stringify(ledgers.map(({ table }) => table))
  // Not `to_regclass`: its connection would cache a missing ledger, also after another process made it.
  const [found] = yield* decoding(sql, Schema.Struct({ n: Schema.Int }))`select count(*)::int4 as n from pg_class
    where relnamespace = current_schema()::regnamespace
      and relname = any(array(select jsonb_array_elements_text(${tables}::jsonb))::name[])`
  if (found?.n !== ledgers.length) return false
  const looks = ledgers.map(({ latest, table }) =>
    sql`select coalesce(max(migration_id), 0) >= ${latest} as done from ${sql(table)}`
  )
  const rows = yield* decoding(sql, Schema.Struct({ done: Schema.Boolean }))`${sql.join(" union all ", false)(looks)}`
  return rows.every(({ done }) => done)
})

export const migrateEach = (list: ReadonlyArray<readonly [string, Migrations]>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    if (yield* isUpToDate(list)) return []
    return yield* sql.withTransaction(Effect.gen(function*() {
      // The limits of requests: rebuilding a large index, or waiting for it, takes minutes.
      yield* sql`select set_config(name, '0', true)
        from unnest(array['statement_timeout', 'idle_in_transaction_session_timeout']) name`
      yield* sql`select pg_advisory_xact_lock(${migrationLock})`
      const done = yield* Effect.forEach(list, ([owner, migrations]) =>
        Effect.map(
          Migrator.make({})({ loader: Migrator.fromRecord(migrations), table: `${owner}_migrations` }),
          (ran) => ran.map(([id, name]) => `${owner}/${String(id).padStart(4, "0")}_${name}`)
        ))
      return done.flat()
    }))
  })

export const migrate = migrateEach(migrationOwners)

export const migrateAll = (url: string): Promise<ReadonlyArray<string>> =>
  Effect.runPromise(Effect.provide(migrate, PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))
