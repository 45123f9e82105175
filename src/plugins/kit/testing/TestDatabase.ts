import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { migrateAll } from "../../../layers/Migrations.ts"
import { startPostgres } from "../../../layers/postgres/EmbeddedPostgres.ts"

/** A PostgreSQL server on which each test gets a separate database. */
export interface TestServer {
  readonly url: string
  /** A database on it that each of these is a copy of. The migrations of the core take most of a start: they have run there. */
  readonly template?: string
}

/** A database for one test, and how to drop it. */
export interface OwnDatabase {
  readonly url: string
  readonly drop: () => Promise<void>
}

let server: Promise<TestServer & { readonly stop: () => Promise<void> }> | undefined
let users = 0

const on = (url: string, text: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  Effect.runPromise(
    Effect.provide(
      Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.asVoid(text(sql))),
      PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
    )
  )

const databaseOf = (url: string, name: string): string => {
  const inside = new URL(url)
  inside.pathname = `/${name}`
  return inside.href
}

const started = async () => {
  const { stop, url } = await startPostgres({
    dir: await mkdtemp(join(tmpdir(), "stoa-plugin-test-")),
    throwaway: true
  })
  const template = "migrated"
  await on(url, (sql) => sql`create database ${sql(template)}`)
  await migrateAll(databaseOf(url, template))
  return { url, template, stop }
}

/** One throwaway server for all tests of a process: those of the next file may follow in a moment. */
const joined = async () => {
  users++
  server ??= started()
  return server
}

const idleMs = 5_000

const leave = () => {
  users--
  setTimeout(() => {
    if (users > 0) return
    void server?.then(({ stop }) => stop())
    server = undefined
  }, idleMs)
}

/** A new database: on this server, else on a throwaway one. */
export const ownDatabase = async (given?: TestServer): Promise<OwnDatabase> => {
  const { template, url } = given ?? (await joined())
  const name = `plugin_${randomUUID().replaceAll("-", "")}`
  await on(
    url,
    (sql) =>
      template === undefined
        ? sql`create database ${sql(name)}`
        : sql`create database ${sql(name)} template ${sql(template)}`
  )
  const drop = async () => {
    await on(url, (sql) => sql`drop database if exists ${sql(name)} with (force)`)
    if (given === undefined) leave()
  }
  return { url: databaseOf(url, name), drop }
}
