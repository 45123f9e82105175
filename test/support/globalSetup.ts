import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { ClusterTables } from "../../src/layers/cluster/ClusterStorage.ts"
import { migrateAll } from "../../src/layers/Migrations.ts"
import { startPostgres } from "../../src/layers/postgres/EmbeddedPostgres.ts"
import { compileCache, compileOnce } from "./CompileCache.ts"
import { memory, parentOfDatabases } from "./Memory.ts"
import { makePrograms } from "./Programs.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The server of this run; test files make their databases from the template (`Postgres.ts` beside this file). */
    readonly postgres: { readonly url: string; readonly template: string; readonly fileCopy: boolean }
    /** Where the programs lie that this run has made (`Programs.ts`). */
    readonly programs: string
  }
}

const prefix = "stoa-test-"

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A run, or a process of one, that was killed could not remove its directory; its server is gone, because it ends with it. */
const removeLeftovers = async () => {
  for (const parent of [memory, tmpdir()]) {
    for (const name of await readdir(parent).catch(() => [])) {
      const pid = /^stoa-test-(\d+)-/.exec(name)?.[1]
      if (pid !== undefined && !isAlive(Number(pid))) await rm(join(parent, name), { recursive: true, force: true })
    }
  }
}

/**
 * Its password goes over the loopback interface as it is, and is hashed once instead of 4,096 times: a run logs in more than
 * ten thousand times, and the handshake that hides it is a third of what a connection costs both sides.
 */
const quickLogIn = async (dir: string, url: string) => {
  const { password, username } = new URL(url)
  await writeFile(join(dir, "data/pg_hba.conf"), "host all all 127.0.0.1/32 password\n")
  await run(url, (sql) =>
    Effect.gen(function*() {
      yield* sql`set scram_iterations = 1`
      yield* sql`alter role ${sql(username)} password ${sql.literal(`'${decodeURIComponent(password)}'`)}`
      yield* sql`select pg_reload_conf()`
    }))
}

const ownServer = async () => {
  await removeLeftovers()
  const dir = await mkdtemp(join(await parentOfDatabases(), `${prefix}${process.pid}-`))
  // No test reads the statistics of statements, which are otherwise counted for each one.
  const server = await startPostgres({ dir, throwaway: true, settings: { shared_preload_libraries: "" } })
  await quickLogIn(dir, server.url)
  return { url: server.url, template: "stoa_template", stop: server.stop }
}

/** On a server somebody else runs, two runs at once must not share a template. */
const givenServer = (url: string) => {
  const template = `stoa_template_${randomUUID().replaceAll("-", "").slice(0, 12)}`
  // Templates that were made of it begin with its name.
  const stop = () =>
    run(url, (sql) =>
      Effect.gen(function*() {
        const all = yield* sql<{ name: string }>`select datname as name from pg_database
          where starts_with(datname, ${template})`
        yield* Effect.forEach(all, ({ name }) => sql`drop database if exists ${sql(name)} with (force)`)
      }))
  return { url, template, stop }
}

const run = <A, E>(url: string, body: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>): Promise<A> =>
  SqlClient.SqlClient.pipe(
    Effect.flatMap(body),
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    Effect.runPromise
  )

/** The cluster's own tables, which a service makes at its first start: nearly no test is about that. */
const clusterTables = (url: string): Promise<unknown> =>
  ClusterTables.pipe(
    Effect.provide(ClusterTables.layer),
    Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 2 })),
    Effect.runPromise
  )

const prepare = async ({ template, url }: { readonly url: string; readonly template: string }) => {
  const version = await run(url, (sql) =>
    Effect.gen(function*() {
      yield* sql`create database ${sql(template)}`
      const rows = yield* sql<{ version: number }>`select current_setting('server_version_num')::int4 as version`
      return rows[0]?.version ?? 0
    }))
  const inside = new URL(url)
  inside.pathname = `/${template}`
  await migrateAll(inside.href)
  await clusterTables(inside.href)
  // A template somebody is connected to cannot be copied.
  await run(url, (sql) => sql`update pg_database set datallowconn = false where datname = ${template}`)
  return version
}

/**
 * One PostgreSQL per run: a throwaway one, or the one of STOA_TEST_DATABASE_URL. All migrations run once,
 * into a template database, of which every test file gets a copy.
 */
export default async (project: TestProject): Promise<() => Promise<void>> => {
  const given = process.env["STOA_TEST_DATABASE_URL"]
  const server = given === undefined || given === "" ? await ownServer() : givenServer(given)
  try {
    const [version, programs] = await Promise.all([prepare(server), makePrograms(), compileOnce()])
    project.provide("programs", programs)
    // The processes of the tests, and what they start from sources, begin with what is compiled.
    process.env["NODE_COMPILE_CACHE"] ??= compileCache
    // STRATEGY exists from 15 on; copying files is half the time of writing them through the WAL.
    project.provide("postgres", { url: server.url, template: server.template, fileCopy: version >= 150_000 })
    return server.stop
  } catch (error) {
    await server.stop()
    throw error
  }
}
