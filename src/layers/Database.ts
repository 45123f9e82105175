import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { createHash } from "node:crypto"
import { resolve } from "node:path"
import { AnalyticsSettings, AnalyticsSql } from "../domain/analytics/AnalyticsRepo.ts"
import { LookupSql } from "../domain/platform/database/DatabaseRepo.ts"
import { SearchSql } from "../domain/search/PostgresEngineRepo.ts"
import { AppConfig } from "./config/AppConfig.ts"
import { connectingTo } from "./config/DatabaseTls.ts"
import { EmbeddedPostgres } from "./postgres/EmbeddedPostgres.ts"
import { checkDatabase } from "./start/DatabaseCheck.ts"
import { refuseWrong } from "./start/Finding.ts"

/** The database of this process: its address, and whether the process started it itself. */
export class Database extends Context.Service<Database, {
  readonly url: Redacted.Redacted<string>
  readonly embedded: boolean
}>()("stoa/layers/Database") {}

/**
 * Where the embedded cluster of a checkout lies when root runs it and the server's account cannot enter the project:
 * one directory per project, so that two checkouts do not share their data.
 */
const rootDirectory = (dataDir: string) =>
  `/var/lib/stoa/${createHash("sha256").update(resolve(dataDir)).digest("hex").slice(0, 12)}/postgres`

const startEmbedded = Effect.fnUntraced(function*(dataDir: string) {
  const dir = resolve(dataDir, "postgres")
  const server = yield* EmbeddedPostgres.start({ dir }).pipe(
    Effect.catchTag(
      "EmbeddedPostgresError",
      (error) => error.code === "NoUser" ? EmbeddedPostgres.start({ dir: rootDirectory(dataDir) }) : Effect.fail(error)
    )
  )
  yield* Effect.logInfo(`embedded PostgreSQL ${server.major} on port ${server.port}${server.owner ? "" : " (joined)"}`)
  return { url: Redacted.make(server.url), embedded: true }
})

/** The database that somebody else runs, once it was seen that it can be used. */
const useGiven = Effect.fnUntraced(function*(url: Redacted.Redacted<string>) {
  yield* refuseWrong([yield* checkDatabase(url)])
  return { url, embedded: false }
})

/** `DATABASE_URL`, else the embedded server, which lives as long as this process. */
export const databaseLayer = Layer.effect(
  Database,
  Effect.gen(function*() {
    const { databaseUrl, dataDir } = yield* AppConfig
    return Option.isSome(databaseUrl) ? yield* useGiven(databaseUrl.value) : yield* startEmbedded(dataDir)
  })
)

/** A peer that vanished without a word is found out after this silence and a few probes, not after two hours. */
export const keepAlive = "30 seconds"

/**
 * Statements are prepared once and keep one plan: planning a statement of several parts again costs more than running
 * it. `Statistics` has them planned again while their tables are young.
 */
const onePlan = { plan_cache_mode: "force_generic_plan" } as const

/**
 * Connections for short lookups, pipelined: statements of many requests share them. Read-only and with a short time
 * limit, since a slow statement on such a connection holds up the statements behind it.
 */
export const lookupLayer = Layer.effect(
  LookupSql,
  Effect.flatMap(Database, ({ url }) =>
    PgClient.make({
      ...connectingTo(url),
      keepAlive,
      maxConnections: 3,
      multiplex: true,
      applicationName: "stoa-lookups",
      startupParameters: { ...onePlan, statement_timeout: "5000", default_transaction_read_only: "on" }
    }))
).pipe(Layer.provide(Reactivity.layer))

/**
 * The pool of requests and actors: ten connections, each with one statement at a time, so that a slow one delays no
 * other. The statement time limit keeps a request from waiting behind a lock for ever.
 */
export const sqlLayer = Layer.unwrap(
  Effect.map(Database, ({ url }) =>
    PgClient.layer({
      ...connectingTo(url),
      keepAlive,
      maxConnections: 10,
      applicationName: "stoa",
      startupParameters: {
        ...onePlan,
        statement_timeout: "15000",
        // A frozen process must not hold the locks of a transaction that it does not go on with.
        idle_in_transaction_session_timeout: "5000"
      }
    }))
)

/**
 * Connections for analytics, closed while idle: read-only, with the time limit of its queries, with memory to
 * sort and to join in memory. Its statements are planned for the values they come with; compiling them would take longer
 * than most of them run.
 */
export const analyticsSqlLayer = Layer.effect(
  AnalyticsSql,
  Effect.gen(function*() {
    const { url } = yield* Database
    const { connections, timeoutMs } = yield* AnalyticsSettings
    return yield* PgClient.make({
      ...connectingTo(url),
      keepAlive,
      maxConnections: connections,
      applicationName: "stoa-analytics",
      startupParameters: {
        statement_timeout: String(timeoutMs),
        default_transaction_read_only: "on",
        work_mem: "32MB",
        jit: "off"
      }
    })
  })
).pipe(Layer.provide(Reactivity.layer))

/**
 * Connections for search, closed while idle: read-only, and planned for the words and filters that are asked for,
 * since a rare word and a frequent one are found by different ways. Memory to sort, as for analytics.
 */
export const searchSqlLayer = Layer.effect(
  SearchSql,
  Effect.gen(function*() {
    const { url } = yield* Database
    return yield* PgClient.make({
      ...connectingTo(url),
      keepAlive,
      maxConnections: 4,
      applicationName: "stoa-search",
      startupParameters: {
        plan_cache_mode: "force_custom_plan",
        // Searched data is in memory: reading an index in index order costs no more than reading the table.
        random_page_cost: "1.1",
        statement_timeout: "5000",
        default_transaction_read_only: "on",
        work_mem: "32MB",
        jit: "off"
      }
    })
  })
).pipe(Layer.provide(Reactivity.layer))
