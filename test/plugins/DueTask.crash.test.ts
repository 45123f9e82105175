import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { migratePlugins } from "../../src/plugins/kit/install/PluginTables.ts"
import { pluginDatabase } from "../../src/plugins/kit/tables/PluginDatabaseRepo.ts"
import { eventually } from "../support/Eventually.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { inDefault } from "./PluginTablesLayer.ts"
import { contextOf, reminders, remindersPlugin, runOf, sendReminders } from "./Reminders.ts"

const program = fileURLToPath(new URL("holdReminder.ts", import.meta.url))

it.live(
  "a row whose process is killed while it is worked off is worked off by another one, once",
  () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const work = Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* migratePlugins([remindersPlugin])
        const db = pluginDatabase({ sql, keyring: undefined }, remindersPlugin)
        const row = { text: "hello", dueAt: new Date("2026-01-01T00:00:00Z") }
        yield* db.table(reminders).insertMany([row, row, row])
        const child = spawn(process.execPath, [program, url], { stdio: ["ignore", "pipe", "inherit"] })
        yield* Effect.promise(() => once(child.stdout, "data"))
        const run = runOf(sendReminders(contextOf(db)))
        assert.deepStrictEqual(yield* run, { done: 2, failed: 0, skipped: 1 }, "the child has one of them")
        child.kill("SIGKILL")
        yield* eventually(
          "the server to notice the end of the child",
          Effect.map(run, (counts) => Reflect.get(Object(counts), "done") === 1)
        )
        const rows = yield* db.table(reminders).list({})
        assert.deepStrictEqual(rows.map(({ sent }) => sent), [1, 1, 1])
      })
      yield* Effect.provide(inDefault(work), PgClient.layer({ url: Redacted.make(url) }))
    }))
)
