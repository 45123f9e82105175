import { PgClient } from "@effect/sql-pg"
import { inject } from "@effect/vitest"
import { Effect, Layer, Redacted, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { randomUUID } from "node:crypto"

/** A database of its own, with all migrations run and no rows but those of the migrations. */
export interface FreshDatabase {
  readonly url: string
  readonly name: string
}

const onServer = <A>(body: (sql: SqlClient.SqlClient) => Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A> =>
  SqlClient.SqlClient.pipe(
    Effect.flatMap(body),
    Effect.provide(PgClient.layer({ url: Redacted.make(inject("postgres").url), maxConnections: 1 })),
    Effect.orDie
  )

const create = Effect.suspend(() => {
  const { fileCopy, template, url } = inject("postgres")
  const name = `test_${randomUUID().replaceAll("-", "")}`
  const inside = new URL(url)
  inside.pathname = `/${name}`
  return onServer((sql) =>
    fileCopy
      ? sql`create database ${sql(name)} template ${sql(template)} strategy file_copy`
      : sql`create database ${sql(name)} template ${sql(template)}`
  ).pipe(Effect.as<FreshDatabase>({ url: inside.href, name }))
})

/**
 * A copy of the migrated template database (20 to 50 ms), dropped with whoever is still connected when the scope
 * closes.
 */
export const freshDatabase: Effect.Effect<FreshDatabase, never, Scope.Scope> = Effect.acquireRelease(
  create,
  ({ name }) => onServer((sql) => sql`drop database if exists ${sql(name)} with (force)`)
)

/**
 * The client of a fresh database, once per layer build: give it to `it.layer` (or `layer`) of a file, and that file
 * has a database of its own. `PgClient` and `SqlClient` are both provided; the pool has 10 connections.
 */
export const TestDatabase: Layer.Layer<PgClient.PgClient | SqlClient.SqlClient> = Layer.unwrap(
  Effect.map(freshDatabase, ({ url }) => PgClient.layer({ url: Redacted.make(url), maxConnections: 10 }))
).pipe(Layer.orDie)
