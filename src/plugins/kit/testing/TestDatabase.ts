import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startPostgres } from "../../../layers/postgres/EmbeddedPostgres.ts"

/** A database for one test, and how to drop it. */
export interface OwnDatabase {
  readonly url: string
  readonly drop: () => Promise<void>
}

let server: Promise<{ readonly url: string; readonly stop: () => Promise<void> }> | undefined
let users = 0

const started = async () => startPostgres({ dir: await mkdtemp(join(tmpdir(), "stoa-plugin-test-")), throwaway: true })

/** One throwaway server for all tests of a process; it stops with the last database. */
const joined = async () => {
  users++
  server ??= started()
  return server
}

const leave = async () => {
  users--
  if (users > 0 || server === undefined) return
  const { stop } = await server
  server = undefined
  await stop()
}

const on = (url: string, text: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  Effect.runPromise(
    Effect.provide(
      Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.asVoid(text(sql))),
      PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
    )
  )

/** A new, empty database: on the server at this address, else on a throwaway one. */
export const ownDatabase = async (given?: string): Promise<OwnDatabase> => {
  const address = given ?? (await joined()).url
  const name = `plugin_${randomUUID().replaceAll("-", "")}`
  await on(address, (sql) => sql`create database ${sql(name)}`)
  const inside = new URL(address)
  inside.pathname = `/${name}`
  const drop = async () => {
    await on(address, (sql) => sql`drop database if exists ${sql(name)} with (force)`)
    if (given === undefined) await leave()
  }
  return { url: inside.href, drop }
}
