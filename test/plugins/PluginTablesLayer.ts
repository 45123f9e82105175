import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { developmentKeyring } from "../../src/domain/webhooks/SecretEncryption.ts"
import { migratePlugins } from "../../src/plugins/kit/install/PluginTables.ts"
import type { Plugin } from "../../src/plugins/kit/Plugin.ts"
import { PluginDatabase } from "../../src/plugins/kit/tables/PluginDatabase.ts"
import { pluginDatabase } from "../../src/plugins/kit/tables/PluginDatabaseRepo.ts"
import { freshDatabase } from "../support/Postgres.ts"

/** A fresh database with the plugin's tables, and the plugin's way to them; nothing of the service runs. */
export const pluginTables = (plugin: Plugin) =>
  Layer.unwrap(Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const database = Layer.effect(
      PluginDatabase,
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into organizations (id, slug, name) values ('org_other', 'other', 'Other')`
        yield* migratePlugins([plugin])
        return pluginDatabase({ sql, keyring: developmentKeyring }, plugin)
      })
    )
    return Layer.provideMerge(database, PgClient.layer({ url: Redacted.make(url), maxConnections: 20 }))
  })).pipe(Layer.orDie)

/** Does it as the service itself in an organization. */
export const within = (organization: string) => Effect.provideService(CurrentActor, systemActor(organization))

export const inDefault = within("org_default")
