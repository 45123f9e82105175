import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Option, Redacted, Schedule, Schema, Scope } from "effect"
import { ClusterWorkflowEngine, RunnerAddress, Sharding, ShardingConfig } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { Workflow, WorkflowEngine } from "effect/workflow"
import * as ClusterStorage from "../../src/layers/cluster/ClusterStorage.ts"
import { freePort } from "../../src/layers/FreePort.ts"
import { freshDatabase } from "../support/Postgres.ts"

const Order = Workflow.make("Order", {
  payload: { id: Schema.String },
  success: Schema.String,
  idempotencyKey: ({ id }) => id
})

/** A runner as a process of its own would be: own connections, own socket, own shards. */
const runner = Effect.fnUntraced(function*(url: string, name: string, ran: Array<string>) {
  const shardingConfig = {
    runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", yield* Effect.promise(freePort))),
    runnerListenAddress: Option.none(),
    shardsPerGroup: 8,
    shardLockExpiration: 2000,
    entityMessagePollInterval: 50,
    entityReplyPollInterval: 20,
    refreshAssignmentsInterval: 50
  }
  const orders = Order.toLayer(({ id }) => Effect.sync(() => ran.push(`${name} ${id}`)).pipe(Effect.as(`order ${id}`)))
  const layer = orders.pipe(
    Layer.provideMerge(ClusterWorkflowEngine.layer.pipe(Layer.provide(NodeCrypto.layer))),
    Layer.provideMerge(NodeClusterSocket.layer({ storage: "byo", shardingConfig })),
    Layer.provideMerge(
      ClusterStorage.layer(Redacted.make(url)).pipe(Layer.provide(ShardingConfig.layer(shardingConfig)))
    )
  )
  const scope = yield* Scope.make()
  const context = yield* Effect.provideService(Layer.build(Layer.fresh(layer)), Scope.Scope, scope)
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const execute = (id: string) =>
    Effect.provideService(
      Order.execute({ id }),
      WorkflowEngine.WorkflowEngine,
      Context.get(context, WorkflowEngine.WorkflowEngine)
    )
  return { execute, sharding: Context.get(context, Sharding.Sharding), stop: Scope.close(scope, Exit.void) }
})

const ids = (prefix: string) => Array.from({ length: 30 }, (_, n) => `${prefix}${n}`)
const all = { concurrency: "unbounded" } as const

it.live(
  "two runners share the work, know each other's answers, and the rest goes on when one stops",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const ran: Array<string> = []
      const [a, b] = [yield* runner(url, "a", ran), yield* runner(url, "b", ran)]
      // Both hold shards once the lock table says so: two sessions with advisory locks.
      const holders = Effect.flatMap(SqlClient.SqlClient, (sql) =>
        sql<{ pid: number }>`
        select distinct pid from pg_locks where locktype = 'advisory' and objsubid = 2
          and database = (select oid from pg_database where datname = current_database())`)
      yield* Effect.filterOrFail(holders, (rows) => rows.length === 2, () => "one holds all").pipe(
        Effect.retry({ schedule: Schedule.spaced(20), times: 400 }),
        Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
      )
      const results = yield* Effect.forEach(ids("x"), (id, n) => (n % 2 === 0 ? a : b).execute(id), all)
      assert.deepStrictEqual(results, ids("x").map((id) => `order ${id}`))
      // At least once each: an execution may be redone when its shard moves under it.
      assert.strictEqual(new Set(ran.map((entry) => entry.slice(2))).size, 30)
      const before = ran.length
      assert.deepStrictEqual(new Set(ran.map((entry) => entry.slice(0, 1))), new Set(["a", "b"]))
      yield* a.stop
      const repeated = yield* Effect.forEach(ids("x"), b.execute, all)
      assert.deepStrictEqual(repeated, results)
      assert.strictEqual(ran.length, before, "no finished execution ran again")
      assert.deepStrictEqual(yield* Effect.forEach(ids("y"), b.execute, all), ids("y").map((id) => `order ${id}`))
    }),
  60_000
)
