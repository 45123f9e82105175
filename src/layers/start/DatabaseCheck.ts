import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { decoding } from "../../domain/platform/records/Rows.ts"
import { connectingTo } from "../config/DatabaseTls.ts"
import { whileBusy } from "./BusyDatabase.ts"
import { type Finding, well, wrong } from "./Finding.ts"

interface Reported {
  readonly code?: unknown
  readonly message?: unknown
  readonly cause?: unknown
}

const isReported = (value: unknown): value is Reported => typeof value === "object" && value !== null

const firstOf = (error: SqlError.SqlError): { readonly code: string; readonly words: string } => {
  let recorded: Reported = error.reason
  while (isReported(recorded.cause)) recorded = recorded.cause
  const code = typeof recorded.code === "string" ? recorded.code : ""
  return { code, words: typeof recorded.message === "string" && recorded.message !== "" ? recorded.message : code }
}

const placeOf = (url: Redacted.Redacted<string>) => {
  const { host, pathname, username } = new URL(Redacted.value(url))
  return { host: host === "" ? "localhost" : host, database: pathname.slice(1), user: decodeURIComponent(username) }
}

export const explained = (url: Redacted.Redacted<string>, error: SqlError.SqlError): Finding => {
  const { database, host, user } = placeOf(url)
  const { code, words } = firstOf(error)
  switch (code) {
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return wrong(`the host ${host} of DATABASE_URL is unknown`, "check its name")
    case "28P01":
    case "28000":
      return wrong(
        `the server ${host} of DATABASE_URL refuses the user ${user} (${words})`,
        "check user and password, and pg_hba.conf of the server"
      )
    case "3D000":
      return wrong(`the server ${host} of DATABASE_URL has no database "${database}"`, `make it: createdb ${database}`)
    default:
      return wrong(
        `the database of DATABASE_URL (${host}) does not answer (${words})`,
        "check that it runs and that user, password, host and port are right"
      )
  }
}

const oldest = 15

const checkVersion = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [server] = yield* decoding(
    sql,
    Schema.Struct({ n: Schema.Int })
  )`select current_setting('server_version_num')::int4 as n`
  const major = Math.floor((server?.n ?? 0) / 10_000)
  return major >= oldest
    ? well(`PostgreSQL ${major} answers`)
    : wrong(`PostgreSQL ${major} of DATABASE_URL is too old`, `use version ${oldest} or newer`)
})

export const askDatabase = <A>(
  url: Redacted.Redacted<string>,
  more: Effect.Effect<A, SqlError.SqlError, SqlClient.SqlClient>
): Effect.Effect<readonly [Finding, A], SqlError.SqlError> =>
  Effect.all([checkVersion, more]).pipe(
    Effect.provide(PgClient.layer({ ...connectingTo(url), maxConnections: 1 }))
  )

export const checkDatabase = (url: Redacted.Redacted<string>): Effect.Effect<Finding> =>
  askDatabase(url, Effect.void).pipe(
    whileBusy,
    Effect.map(([finding]) => finding),
    Effect.catch((error) => Effect.succeed(explained(url, error)))
  )
