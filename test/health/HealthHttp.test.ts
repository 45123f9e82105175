import { assert } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { MachineId, Snowflake } from "effect/cluster"
import type { SqlClient, SqlError } from "effect/sql"
import { refused } from "../checkout/CheckoutFixtures.ts"
import { onDatabase } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, asCustomer, asStaff, TestApp, withApp } from "../support/TestApp.ts"

const metricsKey = { authorization: "Bearer a-key-for-metrics-alone" }

const ask = (path: string, headers: Readonly<Record<string, string>> = {}) => api("GET", path, { headers })

/** Repeats a request until the answer is as wanted: readiness and metrics are up to a second old. */
const askUntil = (what: string, path: string, wanted: (answer: Answer) => boolean) =>
  eventually(what, Effect.map(ask(path, metricsKey), (answer) => wanted(answer) && answer))

const readyWith = (status: number) =>
  askUntil(`readiness ${status}`, "/api/ready", (answer) => answer.status === status)

const names = ["database", "runners", "shards", "messages", "migrations", "jobs"]
const allOk = Object.fromEntries(names.map((name) => [name, { status: "ok" }]))

const database = <A>(body: (sql: SqlClient.SqlClient) => Effect.Effect<A, SqlError.SqlError>) =>
  Effect.flatMap(TestApp, ({ databaseUrl }) => onDatabase(databaseUrl, body))

/** A message for a shard that no runner of this deployment knows, sent that many ms ago. */
const unansweredMessage = Effect.fnUntraced(function*(age: number) {
  const timestamp = (yield* Clock.currentTimeMillis) - age
  const id = String(Snowflake.make({ machineId: MachineId.make(9), sequence: 0, timestamp }))
  yield* database((sql) =>
    sql`insert into cluster_messages (id, message_id, shard_id, entity_type, entity_id, kind, tag, request_id)
      values (${id}::text::bigint, ${id}, 'default:9999', 'Cart', 'unknown', 0, 'add', ${id}::text::bigint)`
  )
})

/** The value of a series of the metrics, by its name and labels; undefined when there is no such series. */
const series = (answer: Answer, name: string): number | undefined => {
  const line = String(answer.body).split("\n").find((one) => one.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length + 1))
}

/** Metrics in which a series has such a value. */
const metricsWith = (name: string, value: (found: number | undefined) => boolean) =>
  askUntil(`${name} in the metrics`, "/api/metrics", (answer) => value(series(answer, name)))

const metrics = ask("/api/metrics", metricsKey)

withApp("readiness", (it) => {
  it.effect("readiness is 200 with every check once the process has its shards, and so is health", () =>
    Effect.gen(function*() {
      const ready = yield* readyWith(200)
      assert.deepStrictEqual(ready.body, {
        status: "ready",
        version: ready.text("version"),
        checks: allOk
      })
      const health = yield* ask("/api/health")
      assert.deepStrictEqual(health.body, { status: "ok", version: ready.text("version") })
    }))

  it.effect("readiness is 503 and names the check while a message waits for more than 30 s; health stays 200", () =>
    Effect.gen(function*() {
      yield* unansweredMessage(31_000)
      const unready = yield* readyWith(503)
      assert.deepStrictEqual(unready.body, {
        status: "unready",
        version: unready.text("version"),
        checks: {
          ...allOk,
          messages: { status: "failing", message: "A message has been waiting for a runner for more than 30 s." }
        }
      })
      assert.isTrue(unready.headers.has("retry-after"))
      assert.strictEqual((yield* ask("/api/health")).status, 200)
      const recorded = yield* metricsWith("stoa_readiness_check{check=\"messages\"}", (found) => found === 0)
      assert.isAtLeast(series(recorded, "stoa_cluster_oldest_waiting_message_seconds") ?? 0, 31)
      yield* database((sql) => sql`delete from cluster_messages where shard_id = 'default:9999'`)
      yield* readyWith(200)
    }))
})

withApp("readiness of the tables", (it) => {
  it.effect("readiness is 503 while tables are older than this version, and names their owner", () =>
    Effect.gen(function*() {
      yield* readyWith(200)
      yield* database((sql) => sql`update promotions_migrations set migration_id = -migration_id`)
      const behind = yield* readyWith(503)
      assert.strictEqual(
        behind.text("checks.migrations.message"),
        "The tables of promotions are older than this version."
      )
      yield* database((sql) => sql`update promotions_migrations set migration_id = -migration_id`)
      yield* readyWith(200)
    }))

  it.effect("health, readiness and metrics are also at the root, with the same access rules", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* ask("/health/live")).body, (yield* ask("/api/health")).body)
      yield* readyWith(200)
      assert.deepStrictEqual((yield* ask("/health/ready")).body, (yield* ask("/api/ready")).body)
      refused(yield* ask("/metrics"), 401, "UNAUTHORIZED")
      refused(yield* api("GET", "/metrics", { as: asStaff }), 403, "FORBIDDEN")
      const answer = yield* ask("/metrics", metricsKey)
      assert.include(String(answer.body), "stoa_http_requests_total")
    }))
})

withApp("metrics", (it) => {
  it.effect("metrics are for administrators and for a key that may do nothing else", () =>
    Effect.gen(function*() {
      refused(yield* ask("/api/metrics"), 401, "UNAUTHORIZED")
      refused(yield* ask("/api/metrics", { "x-api-key": "a-key-for-metrics-alonE" }), 401, "UNAUTHORIZED")
      for (const as of [asStaff, asCustomer("one")]) {
        refused(yield* api("GET", "/api/metrics", { as }), 403, "FORBIDDEN")
      }
      assert.strictEqual((yield* api("GET", "/api/metrics", { as: asAdmin })).status, 200)
      const answer = yield* ask("/api/metrics", metricsKey)
      assert.strictEqual(answer.status, 200)
      assert.match(answer.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/)
      for (const path of ["/api/orders", "/api/catalog/entities"]) {
        refused(yield* ask(path, metricsKey), 403, "FORBIDDEN", "a key for metrics only")
      }
    }))

  /** The metrics with every request until now, also those of other tests: their text may be a second old. */
  const settled = Effect.gen(function*() {
    const name = "stoa_http_requests_total{method=\"GET\",route=\"/api/doc\",status=\"2xx\"}"
    const known = series(yield* metrics, name) ?? 0
    yield* ask("/api/doc")
    return yield* metricsWith(name, (found) => (found ?? 0) > known)
  })

  it.effect("metrics count requests by route and class of status, and all unknown paths as one", () =>
    Effect.gen(function*() {
      const before = yield* settled
      const route = "method=\"GET\",route=\"/api/carts/{id}\""
      const names = [
        `stoa_http_requests_total{${route},status="4xx"}`,
        `stoa_http_request_duration_seconds_count{${route}}`,
        `stoa_http_request_duration_seconds_bucket{${route},le="+Inf"}`,
        "stoa_http_requests_total{method=\"*\",route=\"unmatched\",status=\"4xx\"}"
      ]
      yield* Effect.forEach(["1", "2", "3"], (id) => ask(`/api/carts/${id}?page=${id}`))
      // No route: an unknown path, a wrong method, and a body that is refused before the path is read.
      yield* ask("/api/nothing")
      yield* api("PUT", "/api/carts", { body: {} })
      yield* api("POST", "/api/carts", { body: "x".repeat(1_048_577) })
      const grown = (name: string, by: number) => (found: number | undefined) =>
        found === (series(before, name) ?? 0) + by
      const [first = "", ...others] = names
      const after = yield* metricsWith(first, grown(first, 3))
      assert.deepStrictEqual(
        others.map((name) => (series(after, name) ?? 0) - (series(before, name) ?? 0)),
        [3, 3, 3]
      )
    }))

  it.effect("metrics show outcomes of checkouts and reservations, oversold levels, the cluster, the database and the process", () =>
    Effect.gen(function*() {
      const created = "stoa_checkouts_total{outcome=\"created\"}"
      const failed = "stoa_checkouts_total{outcome=\"CHECKOUT_FAILED\"}"
      const before = yield* metrics
      const product = yield* aProduct({ stock: 1 })
      const [buyer, loser] = [yield* aCartWith(product), yield* aCartWith(product)]
      assert.strictEqual((yield* checkOut(buyer)).status, 201)
      assert.strictEqual((yield* checkOut(loser)).status, 422)
      const after = yield* metricsWith(failed, (found) => found === (series(before, failed) ?? 0) + 1)
      assert.strictEqual(series(after, created), (series(before, created) ?? 0) + 1)
      for (const outcome of ["granted", "refused"]) {
        assert.isAtLeast(series(after, `stoa_stock_reservations_total{outcome="${outcome}"}`) ?? 0, 1)
      }
      assert.strictEqual(series(after, "stoa_stock_oversold_levels"), 0)
      assert.strictEqual(series(after, "stoa_stock_unbacked_levels"), 0)
      assert.isAtLeast(series(after, "stoa_database_pool_wait_seconds_count") ?? 0, 1)
      assert.isAtLeast(series(after, "stoa_stock_batch_size_count") ?? 0, 2)
      assert.isAtLeast(series(after, "stoa_batch_size_count{batcher=\"messages.save\"}") ?? 0, 1)
      assert.strictEqual(series(after, "stoa_cluster_shards_owned"), series(after, "stoa_cluster_shards"))
      assert.strictEqual(series(after, "stoa_cluster_runners_alive"), 1)
      assert.strictEqual(series(after, "stoa_cluster_oldest_waiting_message_seconds"), 0)
      assert.isAtLeast(series(after, "stoa_database_connections{pool=\"stoa\",state=\"idle\"}") ?? 0, 1)
      for (
        const name of ["process_resident_memory_bytes", "process_cpu_seconds_total", "nodejs_heap_size_used_bytes"]
      ) {
        assert.isAbove(series(after, name) ?? 0, 0, name)
      }
      for (const name of ["nodejs_eventloop_lag_p99_seconds", "nodejs_eventloop_active_seconds_total"]) {
        assert.isAtLeast(series(after, name) ?? -1, 0, name)
      }
    }))

  it.effect("metrics have the text format of Prometheus", () =>
    Effect.gen(function*() {
      const lines = String((yield* metrics).body).trimEnd().split("\n")
      const sample = /^[a-zA-Z_:][\w:]*(\{\w+="[^"\n]*"(,\w+="[^"\n]*")*\})? (NaN|[+-]Inf|-?[\d.]+(e[+-]?\d+)?)$/
      assert.deepStrictEqual(lines.filter((line) => !line.startsWith("# ") && !sample.test(line)), [])
      const types = lines.filter((line) => line.startsWith("# TYPE ")).map((line) => line.split(" ")[2])
      assert.strictEqual(new Set(types).size, types.length, "every family once")
    }))
})
