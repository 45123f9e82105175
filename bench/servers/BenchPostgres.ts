import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import { startPostgres } from "../../src/layers/postgres/EmbeddedPostgres.ts"

/** A durable PostgreSQL of the benchmark's own, with the statistics of statements switched on. */
export interface BenchPostgres {
  /** A client of the database `postgres`; what it asks counts for no other database. */
  readonly admin: Client
  /** The postmaster. */
  readonly pid: number
  /** The address of one of its databases. */
  readonly urlOf: (database: string) => string
  /** A new, empty database; gives its address. */
  readonly create: (database: string) => Promise<string>
  readonly stop: () => Promise<void>
}

const running = new Set<() => Promise<void>>()

/** Stops what is still running and removes its directory, for a benchmark that fails or is interrupted. */
export const stopPostgres = () => Promise.all([...running].map((stop) => stop())).then(() => undefined)

/** Makes and starts a server in a new directory under the system's temporary one; `stop` removes it. */
export const startBenchPostgres = async (
  settings: Readonly<Record<string, string>> = {}
): Promise<BenchPostgres> => {
  const dir = await mkdtemp(join(tmpdir(), "stoa-bench-"))
  const remove = () => rm(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  running.add(remove)
  const server = await startPostgres({ dir, settings })
  running.delete(remove)
  const urlOf = (database: string) => {
    const url = new URL(server.url)
    url.pathname = `/${database}`
    return url.href
  }
  const admin = new Client({ connectionString: server.url, application_name: "stoa-bench" })
  // The server ends before this connection does when the benchmark is interrupted.
  admin.on("error", () => undefined)
  const end = async () => {
    await admin.end().catch(() => undefined)
    await server.stop()
    await remove()
    running.delete(stop)
  }
  let ended: Promise<void> | undefined
  // Interrupted runs end it from two sides; both have to wait until it is done.
  const stop = () => ended ??= end()
  running.add(stop)
  await admin.connect()
  await admin.query("create extension if not exists pg_stat_statements")
  return {
    admin,
    pid: server.pid,
    urlOf,
    create: async (database) => {
      await admin.query(`create database ${database}`)
      return urlOf(database)
    },
    stop
  }
}

/** Runs statements on a database with a connection of their own. */
export const onDatabase = async <A>(url: string, work: (client: Client) => Promise<A>): Promise<A> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
