import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import {
  MachineId,
  Runner,
  RunnerAddress,
  RunnerStorage,
  ShardId,
  ShardingConfig,
  Snowflake,
  SqlRunnerStorage
} from "effect/cluster"
import { SqlClient } from "effect/sql"
import { clusterHealth } from "../../src/layers/cluster/ClusterHealth.ts"
import { ClusterTables } from "../../src/layers/cluster/ClusterStorage.ts"
import { DeploymentHealth } from "../../src/layers/health/Readiness.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { freshDatabase } from "../support/Postgres.ts"

const address = RunnerAddress.make("runner1", 14_000)

const below = Layer.unwrap(Effect.map(freshDatabase, ({ url }) =>
  ClusterTables.layer.pipe(
    Layer.provideMerge(PgClient.layer({
      url: Redacted.make(url),
      maxConnections: 3,
      startupParameters: { plan_cache_mode: "force_generic_plan" }
    }))
  )))

/** The health check, and Effect's storage of runners and locks, over one database. */
const storages = (config: Partial<ShardingConfig.ShardingConfig["Service"]> = {}) =>
  Layer.merge(clusterHealth, SqlRunnerStorage.layerStorage({})).pipe(
    Layer.provide(ShardingConfig.layer({
      shardsPerGroup: 8,
      shardLockExpiration: "6 seconds",
      runnerAddress: Option.some(address),
      ...config
    })),
    Layer.provideMerge(below)
  )

const look = Effect.flatMap(DeploymentHealth, (healthChecks) => healthChecks.look)
const shardIds = [1, 5, 8].map((shard) => ShardId.make("default", shard))

let sequence = 0

/** Ages are counted from here, so that they do not depend on how fast the test runs. */
const now = Date.now()

/** Writes messages of an age in ms. */
const messages = Effect.fnUntraced(function*(
  age: number,
  { count = 1, deliverAt = null, kind = 0, processed = false, taken = false }: {
    readonly count?: number
    readonly deliverAt?: number | null
    readonly kind?: number
    readonly processed?: boolean
    readonly taken?: boolean
  } = {}
) {
  const sql = yield* SqlClient.SqlClient
  const timestamp = now - age
  const first = Snowflake.make({ machineId: MachineId.make(1), sequence: 0, timestamp })
  const base = sequence
  sequence += count
  yield* sql`insert into cluster_messages (id, message_id, shard_id, entity_type, entity_id, kind, tag, request_id,
      processed, last_read, deliver_at)
    select ${String(first)}::text::bigint + ${base} + n, 'key ' || ${base} + n, 'default:' || 1 + n % 8, 'Cart',
      n::text, ${kind}, 'add', ${String(first)}::text::bigint + ${base} + n, ${processed},
      case when ${taken} then now() end, ${deliverAt === null ? null : String(deliverAt)}::text::bigint
    from generate_series(1, ${count}::int) n`
})

/** The age in ms of the oldest message that waits; undefined without one. */
const waited = Effect.map(look, ({ waitingSince }) => waitingSince === undefined ? undefined : now - waitingSince)

for (const shardLockDisableAdvisory of [false, true]) {
  it.layer(storages({ shardLockDisableAdvisory }), { excludeTestServices: true })(
    `the health of a cluster with ${shardLockDisableAdvisory ? "rows" : "advisory locks"} for its shards`,
    (it) => {
      it.effect("has the shards that runners hold, and no other lock", () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const storage = yield* RunnerStorage.RunnerStorage
          yield* sql`select pg_advisory_lock(7, 1000002)`
          assert.strictEqual((yield* look).owned.size, 0)
          assert.strictEqual((yield* look).shards.length, 8)
          yield* storage.acquire(address, shardIds)
          assert.deepStrictEqual([...(yield* look).owned].sort(), [1_000_001, 1_000_005, 1_000_008])
          yield* storage.release(address, ShardId.make("default", 5))
          assert.deepStrictEqual([...(yield* look).owned].sort(), [1_000_001, 1_000_008])
          yield* storage.releaseAll(address)
          assert.strictEqual((yield* look).owned.size, 0)
        }))
    }
  )
}

it.layer(storages(), { excludeTestServices: true })("the health of a cluster", (it) => {
  it.effect("has the runners that are healthy and have a recent heartbeat", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const storage = yield* RunnerStorage.RunnerStorage
      assert.deepStrictEqual((yield* look).runners, [])
      yield* storage.register(Runner.make({ address, groups: ["default"], weight: 1 }), true)
      const found = yield* look
      assert.deepStrictEqual([found.runners, found.self], [["runner1:14000"], "runner1:14000"])
      yield* sql`update cluster_runners set last_heartbeat = now() - interval '7 seconds'`
      assert.deepStrictEqual((yield* look).runners, [])
      yield* storage.register(Runner.make({ address, groups: ["default"], weight: 1 }), false)
      assert.deepStrictEqual((yield* look).runners, [])
    }))

  it.effect("has the age of the oldest message that a runner could take", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      assert.isUndefined(yield* waited)
      yield* messages(90_000, { processed: true })
      yield* messages(80_000, { taken: true })
      yield* messages(75_000, { kind: 2 })
      yield* messages(70_000, { deliverAt: now + 60_000 })
      assert.isUndefined(yield* waited, "answered, being processed, an interrupt, not due")
      yield* messages(60_000, { deliverAt: now - 10_000 })
      assert.strictEqual(yield* waited, 10_000, "since it was due")
      yield* messages(20_000)
      yield* messages(15_000)
      assert.strictEqual(yield* waited, 20_000)
      yield* messages(40_000, { deliverAt: now - 50_000 })
      assert.strictEqual(yield* waited, 40_000, "since it was sent, when it was due before")
      yield* sql`insert into cluster_replies (id, kind, request_id, payload)
        select id, 0, request_id, '{}' from cluster_messages`
      assert.isUndefined(yield* waited, "answered meanwhile")
    }))

  it.effect("reads a few pages for any number of answered messages, with and without statistics", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`delete from cluster_messages`
      yield* messages(3_600_000, { count: 60_000, processed: true })
      yield* messages(3_000_000, { count: 100, deliverAt: now + 3_600_000 })
      yield* messages(50_000, { count: 100, taken: true })
      yield* messages(1_000, { count: 100 })
      const [table] = yield* sql<{ pages: number }>`select (pg_relation_size('cluster_messages') / 8192)::int4 as pages`
      for (const analyzed of [false, true]) {
        if (analyzed) yield* sql`analyze cluster_messages`
        const [[text = "", parameters = []] = []] = yield* statementsOf(look)
        const plan = yield* sql.unsafe<{ "QUERY PLAN": string }>(`explain (analyze, buffers) ${text}`, parameters)
        const lines = plan.map((line) => line["QUERY PLAN"]).join("\n")
        const [, hit = 0, read = 0] = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(lines) ?? []
        assert.isBelow(Number(hit) + Number(read), (table?.pages ?? 0) / 2, lines)
        assert.notInclude(lines, "Seq Scan on cluster_messages")
      }
      assert.strictEqual(yield* waited, 1_000)
    }))
})
