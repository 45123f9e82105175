import { assert } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { MachineId, Snowflake } from "effect/cluster"
import type { SqlClient, SqlError } from "effect/sql"
import { refused } from "../checkout/CheckoutFixtures.ts"
import { onDatabase } from "../support/Audit.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, asCustomer, asStaff, TestApp, withApp } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

const ask = (path: string, headers: Readonly<Record<string, string>> = {}) => api("GET", path, { headers })

/** Asks for readiness until it has this status: a look at the deployment is kept for a second. */
const readyWith = (status: number) =>
  Effect.flatMap(TestApp, (app) =>
    Effect.promise(() =>
      waitFor(`readiness ${status}`, async () => {
        const answer = await Effect.runPromise(app.api("GET", "/api/ready"))
        return answer.status === status ? answer : undefined
      })
    ))

/** The statuses of the checks, for a comparison at a glance. */
const checks = (answer: Answer) =>
  Object.entries(Object(answer.at("checks"))).map(([name]) => `${name} ${answer.text(`checks.${name}.status`)}`)

const database = <A>(body: (sql: SqlClient.SqlClient) => Effect.Effect<A, SqlError.SqlError>) =>
  Effect.flatMap(TestApp, ({ databaseUrl }) => onDatabase(databaseUrl, body))

/** A message for a shard that no runner of this deployment knows, sent that many ms ago. */
const unansweredMessage = Effect.fnUntraced(function*(age: number) {
  const timestamp = (yield* Clock.currentTimeMillis) - age
  const id = String(Snowflake.make({ machineId: MachineId.make(9), sequence: 0, timestamp }))
  yield* database((sql) =>
    sql`insert into cluster_messages (id, message_id, shard_id, entity_type, entity_id, kind, tag, request_id)
      values (${id}::text::bigint, ${id}, 'default:9999', 'Cart', 'stray', 0, 'add', ${id}::text::bigint)`
  )
})

/** The value of a series of the metrics, by its name and labels; undefined when there is no such series. */
const series = (answer: Answer, name: string): number | undefined => {
  const line = String(answer.body).split("\n").find((one) => one.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length + 1))
}

const metricsKey = { authorization: "Bearer a-key-for-metrics-alone" }

/** Reads the metrics until a series has the value: they are written once a second at most. */
const metricsWith = (name: string, value: (found: number | undefined) => boolean) =>
  Effect.flatMap(TestApp, (app) =>
    Effect.promise(() =>
      waitFor(`${name} in the metrics`, async () => {
        const answer = await Effect.runPromise(app.api("GET", "/api/metrics", { headers: metricsKey }))
        return value(series(answer, name)) ? answer : undefined
      })
    ))

const metrics = ask("/api/metrics", metricsKey)

withApp("readiness", (it) => {
  it.effect("is 200 with every check once the process has its shards, and health says what it always said", () =>
    Effect.gen(function*() {
      const ready = yield* readyWith(200)
      assert.deepStrictEqual(ready.body, {
        status: "ready",
        version: ready.text("version"),
        checks: {
          database: { status: "ok" },
          runners: { status: "ok" },
          shards: { status: "ok" },
          messages: { status: "ok" },
          migrations: { status: "ok" },
          jobs: { status: "ok" }
        }
      })
      const health = yield* ask("/api/health")
      assert.deepStrictEqual(health.body, { status: "ok", version: ready.text("version") })
    }))

  it.effect("is 503 while a message waits for more than 30 s, and names it; health stays 200", () =>
    Effect.gen(function*() {
      yield* unansweredMessage(31_000)
      const unready = yield* readyWith(503)
      assert.strictEqual(unready.text("status"), "unready")
      assert.deepStrictEqual(checks(unready), [
        "database ok",
        "runners ok",
        "shards ok",
        "messages failing",
        "migrations ok",
        "jobs ok"
      ])
      assert.strictEqual(
        unready.text("checks.messages.message"),
        "A message has been waiting for a runner for more than 30 s."
      )
      assert.isTrue(unready.headers.has("retry-after"))
      assert.strictEqual((yield* ask("/api/health")).status, 200)
      const recorded = yield* metricsWith("stoa_readiness_check{check=\"messages\"}", (found) => found === 0)
      assert.isAtLeast(series(recorded, "stoa_cluster_oldest_waiting_message_seconds") ?? 0, 31)
      yield* database((sql) => sql`delete from cluster_messages where shard_id = 'default:9999'`)
      yield* readyWith(200)
    }))
})

withApp("readiness of the tables", (it) => {
  it.effect("is 503 while they are older than this version, and names their owner", () =>
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

  it.effect("and life and metrics are answered at the root too, by the same rules", () =>
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
  it.effect("tell of reservations, of waiting for the pool, and that nothing is oversold", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 3 })
      const [first, second] = [yield* aCartWith(entityId, 2), yield* aCartWith(entityId, 2)]
      assert.strictEqual((yield* checkOut(first)).status, 201)
      assert.strictEqual((yield* checkOut(second)).status, 422)
      const granted = "stoa_stock_reservations_total{outcome=\"granted\"}"
      const recorded = yield* metricsWith(granted, (found) => (found ?? 0) >= 1)
      assert.isAtLeast(series(recorded, "stoa_stock_reservations_total{outcome=\"refused\"}") ?? 0, 1)
      assert.strictEqual(series(recorded, "stoa_stock_oversold_levels"), 0)
      assert.strictEqual(series(recorded, "stoa_stock_unbacked_levels"), 0)
      assert.isAtLeast(series(recorded, "stoa_database_pool_wait_seconds_count") ?? 0, 1)
    }))

  it.effect("are for those who may read them: their own key, and administrators", () =>
    Effect.gen(function*() {
      refused(yield* ask("/api/metrics"), 401, "UNAUTHORIZED")
      refused(yield* ask("/api/metrics", { "x-api-key": "a-key-for-metrics-alonE" }), 401, "UNAUTHORIZED")
      refused(yield* api("GET", "/api/metrics", { as: asStaff }), 403, "FORBIDDEN")
      refused(yield* api("GET", "/api/metrics", { as: asCustomer("one") }), 403, "FORBIDDEN")
      assert.strictEqual((yield* api("GET", "/api/metrics", { as: asAdmin })).status, 200)
      const answer = yield* ask("/api/metrics", metricsKey)
      assert.strictEqual(answer.status, 200)
      assert.match(answer.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/)
    }))

  it.effect("have a key that opens nothing else", () =>
    Effect.gen(function*() {
      refused(yield* ask("/api/orders", metricsKey), 403, "FORBIDDEN")
      refused(yield* ask("/api/catalog/entities", metricsKey), 403, "FORBIDDEN")
    }))

  /** The metrics with every request until now, also those of other tests: their text may be a second old. */
  const settled = Effect.gen(function*() {
    const name = "stoa_http_requests_total{method=\"GET\",route=\"/api/doc\",status=\"2xx\"}"
    const known = series(yield* metrics, name) ?? 0
    yield* ask("/api/doc")
    return yield* metricsWith(name, (found) => (found ?? 0) > known)
  })

  it.effect("count requests by route and class of status, and every path that is no route as one", () =>
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
      // No route: an unknown path, a wrong method, and a body that is refused before anybody looks at the path.
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

  it.effect("tell how checkouts ended, what stock entities and the cluster did, and how the process is", () =>
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

  it.effect("are written in the format that Prometheus reads", () =>
    Effect.gen(function*() {
      const lines = String((yield* metrics).body).trimEnd().split("\n")
      const sample = /^[a-zA-Z_:][\w:]*(\{\w+="[^"\n]*"(,\w+="[^"\n]*")*\})? (NaN|[+-]Inf|-?[\d.]+(e[+-]?\d+)?)$/
      assert.deepStrictEqual(lines.filter((line) => !line.startsWith("# ") && !sample.test(line)), [])
      const types = lines.filter((line) => line.startsWith("# TYPE ")).map((line) => line.split(" ")[2])
      assert.strictEqual(new Set(types).size, types.length, "every family once")
    }))
})
