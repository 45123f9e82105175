import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Migrations } from "../../../domain/platform/database/MigrationStatements.ts"
import { migrateEach } from "../../../layers/Migrations.ts"
import type { Plugin } from "../Plugin.ts"
import { lookUpRecords } from "../tables/KnownRecordsRepo.ts"
import { addMissing, checkTables, claimTables } from "../tables/TableChangesRepo.ts"
import { addCounters, dropOldCounters } from "../tables/TableCountersRepo.ts"

/** The ledger name of a plugin's migrations, and the migrations. */
export const ledgerOf = ({ id, migrations }: Pick<Plugin, "id" | "migrations">): readonly [string, Migrations] => [
  `plugin_${id.replaceAll("-", "_")}`,
  migrations
]

const followStock = (name: string) =>
  `do $$ begin if not exists (select from pg_trigger where tgname = '${name}') then create trigger ${name} after insert
    on stock_movements referencing new table as moved for each statement execute function ${name}(); end if; end $$`

/**
 * Brings the tables of the plugins up to date, in the order in which they are listed and behind the lock of migrations:
 * adds what is new, runs the numbered steps, looks whether the tables are then what the plugins say, and lets the database
 * count their rows and look up the records of the core that they name. Gives the names of the steps that were run.
 */
export const migratePlugins = Effect.fnUntraced(function*(plugins: ReadonlyArray<Plugin>) {
  const sql = yield* SqlClient.SqlClient
  const ran: Array<string> = []
  for (const { id, migrations, stockFunction, tables } of plugins) {
    const steps = Effect.gen(function*() {
      yield* claimTables(id, tables)
      yield* addMissing(id, tables)
      yield* dropOldCounters(tables)
      const names = yield* migrateEach([ledgerOf({ id, migrations })])
      yield* checkTables(id, tables)
      yield* addCounters(tables)
      yield* lookUpRecords(tables)
      if (stockFunction !== undefined) yield* sql.unsafe(followStock(stockFunction))
      return names
    })
    ran.push(...yield* sql.withTransaction(steps))
  }
  return ran
})
