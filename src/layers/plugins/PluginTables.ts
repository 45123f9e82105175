import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { addMissing, checkTables, claimTables } from "../../domain/plugins/TableChangesRepo.ts"
import type { Plugin } from "../../plugin/Plugin.ts"
import { migrateEach } from "../Migrations.ts"

/**
 * Brings the tables of the plugins up to date, in the order in which they are listed and behind the lock of migrations:
 * adds what is new, runs the numbered steps, and looks whether the tables are then what the plugins say. Gives the names
 * of the steps that were run.
 */
export const migratePlugins = Effect.fnUntraced(function*(plugins: ReadonlyArray<Plugin>) {
  const sql = yield* SqlClient.SqlClient
  const ran: Array<string> = []
  for (const { id, migrations, tables } of plugins) {
    const steps = Effect.gen(function*() {
      yield* claimTables(id, tables)
      yield* addMissing(id, tables)
      const names = yield* migrateEach([[`plugin_${id.replaceAll("-", "_")}`, migrations]])
      yield* checkTables(id, tables)
      return names
    })
    ran.push(...yield* sql.withTransaction(steps))
  }
  return ran
})
