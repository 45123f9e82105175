import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { freshDatabaseWith } from "../../../../test/support/PluginTemplates.ts"
import { PluginDatabase } from "../../kit/tables/PluginDatabase.ts"
import { pluginDatabase } from "../../kit/tables/PluginDatabaseRepo.ts"
import { marketplace } from "../index.ts"

/** A fresh database with the plugin's tables, for tests of its repositories and services alone. */
export const MarketDatabase = Layer.unwrap(Effect.gen(function*() {
  const plugin = marketplace()
  const { url } = yield* freshDatabaseWith([plugin])
  const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 10 })
  const database = Layer.effect(
    PluginDatabase,
    Effect.map(SqlClient.SqlClient, (sql) => pluginDatabase({ sql, keyring: undefined }, plugin))
  )
  return Layer.provideMerge(database, client)
})).pipe(Layer.orDie)
