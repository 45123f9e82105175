import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { PluginDatabase } from "../../../src/domain/plugins/PluginDatabase.ts"
import { pluginDatabase } from "../../../src/domain/plugins/PluginDatabaseRepo.ts"
import { migratePlugins } from "../../../src/layers/plugins/PluginTables.ts"
import { freshDatabase } from "../../../test/support/Postgres.ts"
import { marketplace } from "../index.ts"

/** A fresh database with the plugin's tables, for tests of its repositories and services alone. */
export const MarketDatabase = Layer.unwrap(Effect.gen(function*() {
  const { url } = yield* freshDatabase
  const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 10 })
  const plugin = marketplace()
  const database = Layer.effect(
    PluginDatabase,
    Effect.gen(function*() {
      yield* Effect.orDie(migratePlugins([plugin]))
      return pluginDatabase(yield* SqlClient.SqlClient, plugin)
    })
  )
  return Layer.provideMerge(database, client)
})).pipe(Layer.orDie)
