import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Metric, Option, Redacted, Schema } from "effect"
import { ClusterSchema, Entity, MessageStorage, RunnerStorage, ShardingConfig } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { SqlClient } from "effect/sql"
import { DurableDeferred, Workflow } from "effect/workflow"
import * as Batcher from "../../src/domain/platform/batching/Batcher.ts"
import * as ClusterStorage from "../../src/layers/cluster/ClusterStorage.ts"
import { lookupsSpared } from "../../src/layers/cluster/GroupCommitMessageStorage.ts"
import { eventually } from "../support/Eventually.ts"
import { freshDatabase, TestDatabase } from "../support/Postgres.ts"
import { aProcess } from "./Runners.ts"
import { until } from "./Storages.ts"

const Order = Workflow.make("Order", {
  payload: { id: Schema.String, wait: Schema.Boolean },
  success: Schema.String,
  idempotencyKey: ({ id }) => id
})
const Paid = DurableDeferred.make("paid", { success: Schema.String })
const runs: Array<string> = []
const Orders = Order.toLayer(({ id, wait }) =>
  Effect.sync(() => runs.push(id)).pipe(
    Effect.andThen(wait ? DurableDeferred.await(Paid) : Effect.succeed(`order ${id}`))
  )
)

const NumberBlock = Entity.make("NumberBlock", [
  Rpc.make("book", {
    payload: { key: Schema.String },
    success: Schema.String,
    primaryKey: ({ key }) => key
  }).annotate(ClusterSchema.Persisted, true)
])
const NumberBlocks = NumberBlock.toLayer({ book: ({ payload }) => Effect.succeed(`booked ${payload.key}`) })

const processOn = (url: string) => aProcess(url, Layer.mergeAll(Orders, NumberBlocks))

const completed = (id: string) =>
  until(Effect.map(Order.poll(id), Option.filter((result) => result._tag === "Complete")))

const ids = (prefix: string, n: number) => Array.from({ length: n }, (_, i) => `${prefix}${i}`)
const all = { concurrency: "unbounded" } as const
const onDatabase = (url: string) => PgClient.layer({ url: Redacted.make(url), maxConnections: 2 })

describe("ClusterStorage", () => {
  it.live("the cluster storage runs workflows and persisted requests, answers repeats, and spares the look-ups of new executions", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      yield* Effect.gen(function*() {
        yield* Order.execute({ id: "first", wait: false })
        const before = (yield* Metric.value(lookupsSpared)).count
        const orders = ids("n", 60)
        const results = yield* Effect.forEach(orders, (id) => Order.execute({ id, wait: false }), all)
        assert.deepStrictEqual(results, orders.map((id) => `order ${id}`))
        let further = 0
        yield* eventually(
          "a look-up that is spared",
          Effect.gen(function*() {
            yield* Order.execute({ id: `further${further++}`, wait: false })
            return (yield* Metric.value(lookupsSpared)).count > before
          })
        )
        assert.strictEqual(yield* Order.execute({ id: "n0", wait: false }), "order n0")
        assert.strictEqual(runs.filter((id) => id === "n0").length, 1)
        const block = (yield* NumberBlock.client)("d1")
        assert.strictEqual(yield* block.book({ key: "1" }), "booked 1")
        assert.strictEqual(yield* block.book({ key: "1" }), "booked 1")
      }).pipe(Effect.provide(processOn(url)))
    }))

  it.live("the cluster storage ends an execution that is interrupted the moment it was started", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      yield* Effect.gen(function*() {
        yield* Order.execute({ id: "warm", wait: false })
        const started = yield* Effect.forEach(
          ids("i", 30),
          (id) =>
            Effect.tap(Order.execute({ id, wait: true }, { discard: true }), (execution) => Order.interrupt(execution)),
          all
        )
        for (const execution of started) {
          const result = yield* completed(execution)
          assert.isTrue(result._tag === "Complete" && result.exit._tag === "Failure")
        }
      }).pipe(Effect.provide(processOn(url)))
    }))

  it.live("the cluster storage resumes a waiting execution in the next process", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const execution = yield* Order.execute({ id: "later", wait: true }, { discard: true }).pipe(
        Effect.tap(() => until(Effect.sync(() => runs.includes("later") ? Option.some(true) : Option.none()))),
        Effect.provide(processOn(url))
      )
      yield* Effect.gen(function*() {
        const token = DurableDeferred.tokenFromExecutionId(Paid, { workflow: Order, executionId: execution })
        const caller = yield* Effect.forkChild(Order.execute({ id: "later", wait: true }))
        yield* DurableDeferred.succeed(Paid, { token, value: "paid" })
        assert.strictEqual(yield* Fiber.join(caller), "paid")
      }).pipe(Effect.provide(processOn(url)))
    }))

  it.live("the cluster storage flushes messages and does not flush heartbeats", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const seen = yield* Effect.gen(function*() {
        yield* (yield* RunnerStorage.RunnerStorage).getRunners
        const sql = yield* SqlClient.SqlClient
        return yield* sql<{ application_name: string }>`
          select application_name, count(*) from pg_stat_activity
          where datname = current_database() and application_name like 'stoa-cluster-%' group by 1 order by 1`
      }).pipe(
        Effect.provide([
          ClusterStorage.layer(Redacted.make(url)).pipe(Layer.provide(ShardingConfig.layerDefaults)),
          onDatabase(url)
        ])
      )
      assert.deepStrictEqual(seen.map((row) => row.application_name), ["stoa-cluster-messages", "stoa-cluster-runners"])
      // Not the value, which the test server may have turned off for all, but who set it.
      const setting = (client: Layer.Layer<SqlClient.SqlClient, unknown>) =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          return yield* sql<{ setting: string; source: string }>`
            select setting, source from pg_settings where name = 'synchronous_commit'`
        }).pipe(Effect.provide(client))
      const session = Redacted.make(url)
      assert.deepStrictEqual(yield* setting(ClusterStorage.runnersClient(session)), [{
        setting: "off",
        source: "client"
      }])
      assert.deepStrictEqual(yield* setting(ClusterStorage.messagesClient(session)), yield* setting(onDatabase(url)))
    }))

  it.live("the cluster storage falls back to the stock storages, with a warning, when a column is new", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const warnings: Array<string> = []
      const log = Logger.layer([Logger.make(({ message }) => {
        warnings.push(String(message))
      })])
      const storage = ClusterStorage.layer(Redacted.make(url)).pipe(Layer.provide(ShardingConfig.layerDefaults))
      yield* Effect.provide(MessageStorage.MessageStorage, storage)
      yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`alter table cluster_messages add column priority int`)
        .pipe(
          Effect.provide(onDatabase(url))
        )
      const saves = Metric.withAttributes(Batcher.batchSize, { batcher: "messages.save" })
      const before = (yield* Metric.value(saves)).count
      const result = yield* Order.execute({ id: "stock", wait: false }).pipe(
        Effect.provide(processOn(url)),
        Effect.provide(log)
      )
      assert.strictEqual(result, "order stock")
      assert.strictEqual((yield* Metric.value(saves)).count, before)
      assert.isTrue(warnings.some((line) => line.includes("unknown cluster_messages.priority integer")))
      // Not the registry of the process, in which the shared service counts as well.
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())))
})

it.layer(TestDatabase)("ClusterTables", (it) => {
  it.effect("the check knows the tables that this version of Effect makes", () =>
    Effect.gen(function*() {
      const tables = yield* Effect.provide(ClusterStorage.ClusterTables, ClusterStorage.ClusterTables.layer)
      assert.isTrue(tables.known)
      assert.deepStrictEqual(yield* ClusterStorage.differences, [])
      const sql = yield* SqlClient.SqlClient
      const plan = yield* sql<{ "QUERY PLAN": string }>`
        explain (costs off) select id from cluster_messages where processed = false order by rowid limit 1`
      assert.include(plan.map((line) => line["QUERY PLAN"]).join("\n"), "cluster_messages_open_idx")
    }))

  it.effect("the check names columns that are new, missing or of another type, and does not accept such tables", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const undone = yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`alter table cluster_messages add column priority integer`
        yield* sql`alter table cluster_replies rename column acked to seen`
        yield* sql`alter table cluster_locks alter column shard_id type text`
        yield* sql`drop table cluster_runners`
        assert.deepStrictEqual(yield* ClusterStorage.differences, [
          "missing cluster_locks.shard_id character varying(50) not null",
          "missing cluster_replies.acked boolean not null",
          "missing cluster_runners.address character varying(255) not null",
          "missing cluster_runners.healthy boolean not null",
          "missing cluster_runners.last_heartbeat timestamp without time zone not null",
          "missing cluster_runners.machine_id integer not null",
          "missing cluster_runners.runner text not null",
          "unknown cluster_locks.shard_id text not null",
          "unknown cluster_messages.priority integer",
          "unknown cluster_replies.seen boolean not null"
        ])
        assert.isFalse(
          (yield* Effect.provide(ClusterStorage.ClusterTables, ClusterStorage.ClusterTables.layerChecked)).known
        )
        return yield* Effect.fail("undo")
      })).pipe(Effect.flip)
      assert.strictEqual(undone, "undo")
      assert.deepStrictEqual(yield* ClusterStorage.differences, [])
    }))
})
