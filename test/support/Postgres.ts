import { PgClient } from "@effect/sql-pg"
import { inject } from "@effect/vitest"
import { Effect, Layer, ManagedRuntime, Redacted, type Scope } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { randomUUID } from "node:crypto"
import { closeClient, shareClient } from "./SharedClients.ts"

/** A separate database, with all migrations run and no rows but those of the migrations. */
export interface FreshDatabase {
  readonly url: string
  readonly name: string
}

type Server = ManagedRuntime.ManagedRuntime<SqlClient.SqlClient, SqlError.SqlError>
let server: Server | undefined

/**
 * The client of all databases that this process makes and drops: to connect for each costs half as much as that itself. It
 * lives as long as the process, its connection until it has been idle for some seconds.
 */
const onServer = <A>(body: (sql: SqlClient.SqlClient) => Effect.Effect<A, SqlError.SqlError>): Effect.Effect<A> =>
  Effect.promise(() => {
    server ??= ManagedRuntime.make(
      PgClient.layer({ url: Redacted.make(inject("postgres").url), maxConnections: 1, idleTimeout: "3 seconds" })
    )
    return server.runPromise(Effect.flatMap(SqlClient.SqlClient, body))
  })

const create = Effect.fnUntraced(function*(
  template: string,
  name = `test_${randomUUID().replaceAll("-", "")}`
) {
  const { fileCopy, url } = inject("postgres")
  const inside = new URL(url)
  inside.pathname = `/${name}`
  yield* onServer((sql) =>
    fileCopy
      ? sql`create database ${sql(name)} template ${sql(template)} strategy file_copy`
      : sql`create database ${sql(name)} template ${sql(template)}`
  )
  const made: FreshDatabase = { url: inside.href, name }
  return made
})

/** A copy of the migrated template database for as long as the run, to be copied in its turn. */
export const makeDatabase = (name: string): Effect.Effect<FreshDatabase> => create(inject("postgres").template, name)

/** A copy of the migrated template database that this process uses until it ends. */
export const lastingDatabase = async (name: string): Promise<FreshDatabase> => {
  // The run drops it with the templates, whose name it begins with.
  const database = await Effect.runPromise(makeDatabase(`${inject("postgres").template}_${process.pid}_${name}`))
  await Effect.runPromise(shareClient(database.url))
  return database
}

/** A copy of a database that has no connections, dropped like a fresh one. */
export const copyOf = (template: string): Effect.Effect<FreshDatabase, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tap(create(template), ({ url }) => shareClient(url)),
    ({ name, url }) =>
      Effect.andThen(
        closeClient(url),
        onServer((sql) => sql`drop database if exists ${sql(name)} with (force)`)
      )
  )

/**
 * A copy of the migrated template database (20 to 50 ms), dropped with all remaining connections when the scope
 * closes.
 */
export const freshDatabase: Effect.Effect<FreshDatabase, never, Scope.Scope> = Effect.suspend(() =>
  copyOf(inject("postgres").template)
)

/** Gives a database a setting, which sessions have that begin from now on. */
export const alwaysWith = ({ name }: FreshDatabase, setting: string, value: string): Effect.Effect<void> =>
  onServer((sql) => sql`alter database ${sql(name)} set ${sql.literal(setting)} = ${sql.literal(`'${value}'`)}`)

/**
 * The client of a fresh database, once per layer build: give it to `it.layer` (or `layer`) of a file, and that file
 * has a separate database. `PgClient` and `SqlClient` are both provided; the pool has 10 connections.
 */
export const TestDatabase: Layer.Layer<PgClient.PgClient | SqlClient.SqlClient> = Layer.unwrap(
  Effect.map(freshDatabase, ({ url }) => PgClient.layer({ url: Redacted.make(url), maxConnections: 10 }))
).pipe(Layer.orDie)
