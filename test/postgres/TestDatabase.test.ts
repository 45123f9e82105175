import { PgClient } from "@effect/sql-pg"
import { assert, describe, inject, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { freshDatabase, TestDatabase } from "../support/Postgres.ts"

const clientOf = (url: string) => PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })

const databases = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ name: string }>`select datname::text as name from pg_database`
  return rows.map((row) => row.name)
}).pipe((names) => Effect.suspend(() => Effect.provide(names, clientOf(inject("postgres").url))))

describe("TestDatabase", () => {
  it.layer(TestDatabase)((it) => {
    it.effect("gives a file a separate database that can be written", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`create table only_here (id int4)`
        yield* sql`insert into only_here (id) values (1), (2)`
        const rows = yield* sql<{ count: bigint }>`select count(*) as count from only_here`
        assert.strictEqual(rows[0]?.count, 2n)
      }))

    it.effect("keeps what an earlier test of the file wrote", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<{ id: number }>`select id from only_here order by id`
        assert.deepStrictEqual(rows.map((row) => row.id), [1, 2])
      }))
  })

  it.effect("gives two callers two databases and drops both when their scope closes", () =>
    Effect.gen(function*() {
      const names = yield* Effect.scoped(Effect.gen(function*() {
        const first = yield* freshDatabase
        const second = yield* freshDatabase
        assert.notStrictEqual(first.name, second.name)
        assert.includeMembers(yield* databases, [first.name, second.name])
        return [first.name, second.name]
      }))
      const left = yield* databases
      assert.deepStrictEqual(names.filter((name) => left.includes(name)), [])
    }))

  it.effect("drops a database somebody is still connected to", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { name, url } = yield* Scope.provide(freshDatabase, scope)
      const client = yield* Layer.build(clientOf(url))
      yield* Context.get(client, SqlClient.SqlClient)`select 1`
      yield* Scope.close(scope, Exit.void)
      assert.notInclude(yield* databases, name)
    }))

  it.effect("refuses connections to the template, which would stop the next copy", () =>
    Effect.gen(function*() {
      const { template, url } = inject("postgres")
      const inside = new URL(url)
      inside.pathname = `/${template}`
      const outcome = yield* Effect.exit(Effect.scoped(
        Layer.build(clientOf(inside.href)).pipe(
          Effect.flatMap((client) => Context.get(client, SqlClient.SqlClient)`select 1`)
        )
      ))
      assert.isTrue(Exit.isFailure(outcome))
    }))
})
