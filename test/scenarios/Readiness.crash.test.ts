import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../support/Eventually.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { type Service, startService } from "../support/Service.ts"
import { callOf } from "../support/ServiceCalls.ts"

const ask = (service: Service, path: string, headers: Readonly<Record<string, string>> = {}) =>
  callOf(service.url)("GET", path, { headers })

/** Asks a process for its readiness until it has this status. */
const readyWith = (service: Service, status: number) =>
  eventually(
    `readiness ${status}`,
    Effect.map(ask(service, "/api/ready"), (answer) => answer.status === status ? answer : undefined)
  )

it.live(
  "an edge without runners is healthy but not ready, until runners have its shards, and again when they die",
  () =>
    Effect.gen(function*() {
      const { url: databaseUrl } = yield* freshDatabase
      const edge = yield* startService({ databaseUrl, role: "api" })
      const alone = yield* readyWith(edge, 503)
      assert.strictEqual(alone.text("checks.runners.message"), "No runner is alive.")
      assert.strictEqual(alone.text("checks.database.status"), "ok")
      assert.strictEqual((yield* ask(edge, "/api/health")).status, 200)

      const runner = yield* startService({ databaseUrl, role: "runner" })
      yield* readyWith(edge, 200)
      yield* readyWith(runner, 200)
      assert.strictEqual((yield* ask(runner, "/api/health")).status, 200)
      assert.strictEqual((yield* ask(runner, "/api/metrics")).status, 401)
      const metrics = yield* ask(runner, "/api/metrics", { "x-api-key": "dev-admin-key" })
      assert.match(String(metrics.body), /^effect_cluster_shards 128$/m)
      assert.strictEqual((yield* ask(runner, "/api/catalog/entities")).status, 404, "a runner serves no shop")

      runner.kill("SIGKILL")
      const orphaned = yield* readyWith(edge, 503)
      assert.strictEqual(orphaned.text("checks.shards.message"), "No shard has an owner.")
      assert.strictEqual((yield* ask(edge, "/api/health")).status, 200)
      const other = yield* startService({ databaseUrl, role: "runner" })
      yield* readyWith(edge, 200)
      yield* readyWith(other, 200)
    })
)
