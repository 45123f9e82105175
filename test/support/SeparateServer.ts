import { Effect, type Scope } from "effect"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { type EmbeddedPostgresServer, startPostgres } from "../../src/layers/postgres/EmbeddedPostgres.ts"
import type { PostgresSettings } from "../../src/layers/postgres/PostgresSettings.ts"
import { onDatabase } from "./Audit.ts"
import { freePort } from "./FreePort.ts"
import { parentOfDatabases } from "./Memory.ts"

/** A separate PostgreSQL server that can be stopped and started again on its port, with its data. */
export interface SeparateServer {
  readonly url: string
  readonly stop: Effect.Effect<void>
  readonly start: Effect.Effect<void>
  /** Stops it and starts it again after so many milliseconds. */
  readonly outage: (milliseconds: number) => Effect.Effect<void>
  /** One of its processes dies: it ends all others, recovers from its log and is there again, without the locks of before. */
  readonly crash: Effect.Effect<void>
}

/** Starts one on an empty directory; it is stopped and removed when the scope closes. */
export const separateServer: Effect.Effect<SeparateServer, never, Scope.Scope> = Effect.suspend(() => serverWith({}))

/** The same with other settings. */
export const serverWith = Effect.fnUntraced(function*(settings: PostgresSettings) {
  const parent = yield* Effect.promise(() => parentOfDatabases().then((place) => mkdtemp(join(place, "stoa-restart-"))))
  yield* Effect.promise(() => chmod(parent, 0o755))
  const dir = join(parent, "pg")
  const port = yield* Effect.promise(freePort)
  const open = () => startPostgres({ dir, settings, port })
  let server: EmbeddedPostgresServer = yield* Effect.promise(open)
  const { url } = server
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      await server.stop()
      await rm(parent, { recursive: true, force: true })
    })
  )
  const own: SeparateServer = {
    url,
    stop: Effect.promise(() => server.stop()),
    crash: Effect.map(
      onDatabase(
        url,
        (sql) =>
          sql<{ pid: number }>`select pid from pg_stat_activity where backend_type = 'client backend'
          and pid <> pg_backend_pid() order by backend_start limit 1`
      ),
      ([backend]) => {
        if (backend !== undefined) process.kill(backend.pid, "SIGKILL")
      }
    ),
    start: Effect.promise(async () => {
      server = await open()
    }),
    outage: (milliseconds) =>
      Effect.promise(async () => {
        await server.stop()
        await pause(milliseconds)
        server = await open()
      })
  }
  return own
})
