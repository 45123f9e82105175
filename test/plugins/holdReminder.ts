import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { pluginDatabase } from "../../src/plugins/kit/tables/PluginDatabaseRepo.ts"
import { contextOf, remindersPlugin, runOf, sendReminders } from "./Reminders.ts"

/*
 * node holdReminder.ts URL: works off what is due and stops in the middle of a row, after it was changed and before its
 * transaction ends; says so on the standard output.
 */
const held = Effect.andThen(Effect.sync(() => process.stdout.write("held")), Effect.never)

await Effect.runPromise(
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => runOf(sendReminders(contextOf(pluginDatabase({ sql, keyring: undefined }, remindersPlugin)), () => held))
  ).pipe(
    Effect.provideService(CurrentActor, systemActor("org_default")),
    Effect.provide(PgClient.layer({ url: Redacted.make(process.argv[2] ?? "") }))
  )
)
