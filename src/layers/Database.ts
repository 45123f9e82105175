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

export class Database extends Context.Service<Database, {
  readonly url: Redacted.Redacted<string>
  readonly embedded: boolean
}>()("stoa/layers/Database") {}

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

const useGiven = Effect.fnUntraced(function*(url: Redacted.Redacted<string>) {
  yield* refuseWrong([yield* checkDatabase(url)])
  return { url, embedded: false }
})

export const databaseLayer = Layer.effect(
  Database,
  Effect.gen(function*() {
    const { databaseUrl, dataDir } = yield* AppConfig
    return Option.isSome(databaseUrl) ? yield* useGiven(databaseUrl.value) : yield* startEmbedded(dataDir)
  })
)

/** Detects a vanished peer after this silence, not after two hours. */
export const keepAlive = "30 seconds"

/**
 * Keep one plan: planning costs more than running. `Statistics` replans while tables are young. Pages in
 * any order cost little more: they are in memory or on flash.
 */
const onePlan = { plan_cache_mode: "force_generic_plan", random_page_cost: "1.1" } as const

/**
 * Pipelined connections for short lookups of many requests. Read-only with a short time limit: a slow statement delays
 * all behind it.
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

/** The pool of requests and actors: ten connections with one statement each. The time limit ends waiting for locks. */
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
        // A frozen process must not hold the locks of its transaction.
        idle_in_transaction_session_timeout: "5000"
      }
    }))
)

/**
 * Read-only connections for analytics, closed while idle, with memory to sort and join. Statements are planned for
 * their values; JIT would take longer than most run.
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
 * Read-only connections for search, closed while idle. Statements are planned for their words and filters: rare and
 * frequent words need different plans.
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
        random_page_cost: "1.1",
        statement_timeout: "5000",
        default_transaction_read_only: "on",
        work_mem: "32MB",
        jit: "off"
      }
    })
  })
).pipe(Layer.provide(Reactivity.layer))
