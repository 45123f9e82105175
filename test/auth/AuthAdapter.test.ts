import {
  authFlowTestSuite,
  caseInsensitiveTestSuite,
  testAdapter,
  transactionsTestSuite,
  uuidTestSuite
} from "@better-auth/test-utils/adapter"
import { PgClient } from "@effect/sql-pg"
import { inject, vi } from "@effect/vitest"
import { Context, Effect, ManagedRuntime, Redacted, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { authAdapter } from "../../src/layers/auth/AuthAdapter.ts"
import { makeAuthScope } from "../../src/layers/auth/AuthScope.ts"
import { wantedTables } from "./AdapterTables.ts"

// It logs a lot; the tests report its failures.
for (const method of ["log", "warn"] as const) vi.spyOn(console, method).mockImplementation(() => undefined)

/** A database for better-auth's test suite, which creates and drops tables. */
const name = `adapter_${randomUUID().replaceAll("-", "")}`
const server = ManagedRuntime.make(PgClient.layer({ url: Redacted.make(inject("postgres").url), maxConnections: 1 }))
await server.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`create database ${sql(name)}`))
const url = new URL(inject("postgres").url)
url.pathname = `/${name}`
// Its tables change their types under living connections, which prepared statements do not survive.
const database = ManagedRuntime.make(
  PgClient.layer({ url: Redacted.make(url.href), maxConnections: 5, prepare: false })
)
const services = Context.add(await database.context(), CurrentActor, systemActor("org_default"))
const scope = makeAuthScope(services, Semaphore.makeUnsafe(4))

const statement = (text: string) => database.runPromise(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(text)))

const runMigrations = async (options: Parameters<typeof wantedTables>[0]) => {
  await statement("drop schema public cascade")
  await statement("create schema public")
  for (const table of wantedTables(options)) {
    const id = `id ${table.idType} primary key default gen_random_uuid()${table.idType === "text" ? "::text" : ""}`
    const columns = table.columns.map(({ name: column, required, type, unique }) =>
      `"${column}" ${type}${required ? " not null" : ""}${unique ? " unique" : ""}`
    )
    await statement(`create table "${table.name}" (${[id, ...columns].join(", ")})`)
  }
}

const { execute } = await testAdapter({
  adapter: () => authAdapter(scope),
  runMigrations,
  overrideBetterAuthOptions: (options) => ({
    ...options,
    advanced: { ...options.advanced, database: { ...options.advanced?.database, generateId: "uuid" } }
  }),
  tests: [
    // Those of basic operations; with other ids, and with joins, which we do not use, they would run twice more.
    uuidTestSuite(),
    authFlowTestSuite(),
    caseInsensitiveTestSuite(),
    transactionsTestSuite()
  ],
  onFinish: async () => {
    await database.dispose()
    await server.runPromise(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`drop database if exists ${sql(name)} with (force)`)
    )
    await server.dispose()
  }
})

execute()
