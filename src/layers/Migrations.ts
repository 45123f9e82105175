import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import type { Migrations } from "../domain/modules/Migrations.ts"
import { migrationOwners } from "./modules/Modules.ts"

/** Any fixed number: processes that start together on one database migrate one after the other under this lock. */
const migrationLock = 4_821_007

/**
 * Brings the tables of every module up to date, each with its own ledger (`<owner>_migrations`). Safe when several
 * processes start at once: one advisory lock lets them through one by one, and what the first did the next one finds
 * done. Gives the names of the migrations that were run.
 */
export const migrateEach = (list: ReadonlyArray<readonly [string, Migrations]>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return yield* sql.withTransaction(Effect.gen(function*() {
      yield* sql`select pg_advisory_xact_lock(${migrationLock})`
      const done = yield* Effect.forEach(list, ([owner, migrations]) =>
        Effect.map(
          Migrator.make({})({ loader: Migrator.fromRecord(migrations), table: `${owner}_migrations` }),
          (ran) => ran.map(([id, name]) => `${owner}/${String(id).padStart(4, "0")}_${name}`)
        ))
      return done.flat()
    }))
  })

/** All modules of the service. */
export const migrate = migrateEach(migrationOwners)

/** The same for a database by its address, for tools and test set-ups that run outside of the service. */
export const migrateAll = (url: string): Promise<ReadonlyArray<string>> =>
  Effect.runPromise(Effect.provide(migrate, PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))
