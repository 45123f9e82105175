import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { migrateEach } from "../../src/layers/Migrations.ts"
import { onDatabase } from "../support/Audit.ts"
import { stoa } from "../support/Command.ts"
import { freshDatabase, TestDatabase } from "../support/Postgres.ts"

/** A step that makes a table; made twice it fails. */
const making = (table: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.asVoid(sql`create table ${sql(table)} (id integer)`))

const one = { "0001_one": making("step_one") }
const two = { ...one, "0002_two": making("step_two") }
const other = { "0001_other": making("step_other") }

it.live("stoa migrate prints the database's error when a migration fails", () =>
  Effect.scoped(Effect.gen(function*() {
    const { url } = yield* freshDatabase
    yield* onDatabase(url, (sql) => sql`delete from ratelimits_migrations`)
    const failed = yield* stoa(["migrate"], { DATABASE_URL: url })
    assert.strictEqual(failed.code, 1)
    assert.include(
      failed.output,
      "stoa: Migration \"1_ratelimits\" failed: relation \"rate_limit_counters\" already exists"
    )
  })))

it.layer(TestDatabase)("migrations", (it) => {
  it.effect("run once, and then only what is new of an owner, and owners that are new", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* migrateEach([["made_up", one], ["idle", {}]]), ["made_up/0001_one"])
      assert.deepStrictEqual(yield* migrateEach([["made_up", one], ["idle", {}]]), [])
      assert.deepStrictEqual(yield* migrateEach([["made_up", two], ["idle", {}]]), ["made_up/0002_two"])
      assert.deepStrictEqual(yield* migrateEach([["made_up", two], ["added", other]]), ["added/0001_other"])
      assert.deepStrictEqual(yield* migrateEach([["made_up", two], ["added", other], ["idle", {}]]), [])
      // An older process beside newer ones finds more than it knows.
      assert.deepStrictEqual(yield* migrateEach([["made_up", one]]), [])
    }))

  it.effect("of processes that start at once run in one of them", () =>
    Effect.gen(function*() {
      const steps = { "0001_at_once": making("step_at_once") }
      const ran = yield* Effect.all(Array.from({ length: 4 }, () => migrateEach([["at_once", steps]])), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(ran.flat(), ["at_once/0001_at_once"])
    }))

  it.effect("have the time that they take, though requests have less", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const hurried = PgClient.layer({
        url: Redacted.make(url),
        maxConnections: 1,
        startupParameters: { statement_timeout: "100" }
      })
      const slow = Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.asVoid(sql`select pg_sleep(0.2)`))
      const [ran, limit] = yield* Effect.provide(
        Effect.all([
          migrateEach([["slow", { "0001_slow": slow }]]),
          Effect.flatMap(SqlClient.SqlClient, (sql) => sql`show statement_timeout`)
        ]),
        hurried
      )
      assert.deepStrictEqual([ran, limit], [["slow/0001_slow"], [{ statement_timeout: "100ms" }]])
    }))
})
