import { Data, Effect, type Scope } from "effect"
import { readdir, rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { type EmbeddedPgCode, EmbeddedPgError } from "./EmbeddedPgError.ts"
import { chooseAccount, isRoot } from "./PostgresAccount.ts"
import { findBinaries, matching, newest, type PostgresOrigin, type Search } from "./PostgresBinaries.ts"
import {
  clusterVersion,
  type Credentials,
  dataOf,
  initCluster,
  prepareDirectory,
  readCredentials,
  writeCredentials
} from "./PostgresCluster.ts"
import type { Account } from "./PostgresCommand.ts"
import type { PostgresSettings } from "./PostgresSettings.ts"
import { startOnPort } from "./PostgresStart.ts"
import { findRunning } from "./PostmasterPid.ts"
import { withStartLock } from "./StartLock.ts"

/** Times are milliseconds. */
export interface EmbeddedPostgresOptions {
  /** Cluster, credentials and log. Default: `defaultDirectory`. */
  readonly dir?: string
  /** Default: the one of the last start, else a free one. */
  readonly port?: number
  /** For tests: no disk guarantees; removed at stop. */
  readonly throwaway?: boolean
  readonly settings?: PostgresSettings
  /** Directory of `postgres` and `initdb`; default EMBEDDED_PG_BIN, else a search. */
  readonly binDir?: string
  /** Directory to look up the npm platform package from. */
  readonly resolveFrom?: string
  readonly timeoutMs?: number
}

export interface EmbeddedPostgresServer {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** False when it belongs to another process, with whose end it stops. */
  readonly owner: boolean
  readonly major: number
  readonly origin: PostgresOrigin | "running"
  readonly log: string
  readonly stop: () => Promise<void>
}

interface Context {
  readonly directory: string
  readonly account: Account | undefined
  readonly timeoutMs: number
  readonly options: EmbeddedPostgresOptions
}

const urlOf = ({ password, user }: Credentials, port: number) =>
  `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`

/**
 * Named by major version. Root's is under /var/lib: the server's account often cannot enter the project. Prefers data
 * of another version to an empty directory, which would look like lost data.
 */
export const defaultDirectory = async (major: number): Promise<string> => {
  const parent = isRoot() ? "/var/lib/stoa/postgres" : resolve(".data")
  const existing = (await readdir(parent).catch(() => [])).filter((name) => /^pg\d+$/.test(name)).sort()
  const own = `pg${major}`
  return join(parent, existing.includes(own) ? own : existing.at(-1) ?? own)
}

const joinRunning = async (context: Context, major: number): Promise<EmbeddedPostgresServer | undefined> => {
  const { directory, timeoutMs } = context
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const running = await findRunning(dataOf(directory))
    if (running === undefined) return undefined
    if (running.status === "ready") {
      const { pid, port } = running
      const url = urlOf(await readCredentials(directory), port)
      const log = join(directory, "postgres.log")
      return { url, port, pid, owner: false, major, origin: "running", log, stop: () => Promise.resolve() }
    }
    if (Date.now() > deadline) {
      throw new EmbeddedPgError(
        "Timeout",
        `The server ${running.pid} on ${directory} was not ready within ${timeoutMs} ms.`
      )
    }
    await pause(20)
  }
}

const startOwn = async (
  context: Context,
  search: Search,
  before: number | undefined
): Promise<EmbeddedPostgresServer> => {
  const { account, directory, options, timeoutMs } = context
  const throwaway = options.throwaway ?? false
  const binaries = before === undefined ? newest(search) : matching(search, before, dataOf(directory))
  if (before === undefined) await initCluster({ directory, bin: binaries.bin, account, throwaway, timeoutMs })
  const credentials = await readCredentials(directory)
  const { port, server } = await startOnPort({
    directory,
    binaries,
    account,
    port: options.port,
    previousPort: credentials.port,
    throwaway,
    settings: options.settings ?? {},
    timeoutMs
  })
  if (credentials.port !== port) {
    await writeCredentials(directory, { ...credentials, port }).catch(() => undefined)
  }
  return {
    url: urlOf(credentials, port),
    port,
    pid: server.pid,
    owner: true,
    major: binaries.major,
    origin: binaries.origin,
    log: join(directory, "postgres.log"),
    stop: async () => {
      await server.stop()
      // Only what this start made; an existing directory is somebody's data.
      if (throwaway && before === undefined) await rm(directory, { recursive: true, force: true })
    }
  }
}

/**
 * Starts the embedded PostgreSQL, or joins one on the directory. It listens on 127.0.0.1 with a random password, and
 * ends with this process however that ends. Never deletes existing data. Rejects with EmbeddedPgError.
 */
export const startPostgres = async (options: EmbeddedPostgresOptions = {}): Promise<EmbeddedPostgresServer> => {
  const timeoutMs = options.timeoutMs ?? 60_000
  const wanted = options.dir === undefined ? undefined : resolve(options.dir)
  const early = wanted === undefined ? await findBinaries(options, await chooseAccount("")) : undefined
  const directory = wanted ?? await defaultDirectory(newest(early ?? { found: [], looked: [] }).major)
  const major = await clusterVersion(directory)
  const account = await chooseAccount(dataOf(directory))
  const search = major === undefined ? early ?? await findBinaries(options, account) : undefined
  if (search !== undefined) newest(search)
  await prepareDirectory(directory, account)
  const context = { directory, account, timeoutMs, options }
  return withStartLock(directory, timeoutMs, async () => {
    const now = await clusterVersion(directory)
    const joined = now === undefined ? undefined : await joinRunning(context, now)
    return joined ?? await startOwn(context, search ?? await findBinaries(options, account), now)
  })
}

export class EmbeddedPostgresError extends Data.TaggedError("EmbeddedPostgresError")<{
  readonly code: EmbeddedPgCode
  readonly message: string
}> {}

export const EmbeddedPostgres = {
  start: (
    options: EmbeddedPostgresOptions = {}
  ): Effect.Effect<EmbeddedPostgresServer, EmbeddedPostgresError, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.tryPromise({
        try: () => startPostgres(options),
        catch: (error) =>
          error instanceof EmbeddedPgError
            ? new EmbeddedPostgresError({ code: error.code, message: error.message })
            : new EmbeddedPostgresError({ code: "StartFailed", message: String(error) })
      }),
      (server) => Effect.promise(() => server.stop())
    )
}
