import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { developmentKeyring } from "../../src/domain/webhooks/SecretEncryption.ts"
import { idleContext } from "../../src/plugins/kit/install/PluginDocument.ts"
import { migratePlugins } from "../../src/plugins/kit/install/PluginTables.ts"
import type { Plugin } from "../../src/plugins/kit/Plugin.ts"
import { PluginContext } from "../../src/plugins/kit/PluginContext.ts"
import type { PluginDatabase } from "../../src/plugins/kit/tables/PluginDatabase.ts"
import { pluginDatabase } from "../../src/plugins/kit/tables/PluginDatabaseRepo.ts"
import { testSettings } from "../../src/plugins/kit/testing/TestSettings.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { type StatementTap, tapOn } from "../support/StatementTap.ts"

/** Every statement that the plugin sends. */
class Tap extends Context.Service<Tap, StatementTap>()("test/plugins/Tap") {}

/** How many statements it takes, without those that begin and end a transaction. */
export const statementsOf = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Tap, (tap) => {
    tap.take()
    return Effect.as(Effect.exit(work), Effect.sync(() => tap.take())).pipe(
      Effect.flatten,
      Effect.map((sent) => sent.filter(({ text }) => !/^(begin|commit|rollback)/i.test(text)).length)
    )
  })

/** A context of which only the database works. */
export const contextOver = (db: PluginDatabase): PluginContext =>
  Object.assign(idleContext(testSettings("postgres://unused")), { db })

/** A fresh database with the plugin's tables, and the plugin's way to them; nothing of the service runs. */
export const pluginTables = (plugin: Plugin) =>
  Layer.unwrap(Effect.gen(function*() {
    const tap = yield* tapOn((yield* freshDatabase).url)
    const database = Layer.effect(
      PluginContext,
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into organizations (id, slug, name) values ('org_other', 'other', 'Other')`
        yield* migratePlugins([plugin])
        return contextOver(pluginDatabase({ sql, keyring: developmentKeyring }, plugin))
      })
    )
    return database.pipe(
      Layer.provideMerge(PgClient.layer({ url: Redacted.make(tap.url), maxConnections: 20 })),
      Layer.merge(Layer.succeed(Tap, tap))
    )
  })).pipe(Layer.orDie)

/** Does it as the service itself in an organization. */
export const within = (organization: string) => Effect.provideService(CurrentActor, systemActor(organization))

export const inDefault = within("org_default")
