import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Workflow } from "effect/workflow"
import { eventually } from "../support/Eventually.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { stallingWay } from "../support/StallingWay.ts"
import { aRunner } from "./Runners.ts"

const Errand = Workflow.make("Errand", {
  payload: { id: Schema.String },
  success: Schema.Void,
  idempotencyKey: ({ id }) => id
})

/** Ends the session that holds the locks of shards, and gives how many there were. */
const endLocks = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const ended = yield* sql`select pg_terminate_backend(l.pid) from pg_locks l
    where l.locktype = 'advisory' and l.objsubid = 2 and l.database = (
      select oid from pg_database where datname = current_database()) group by l.pid`
  return ended.length
})

it.live(
  "a runner whose locks went with their connection stops what it works on, and takes it up again",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const begun = [yield* Deferred.make<void>(), yield* Deferred.make<void>()] as const
      const stopped = yield* Deferred.make<void>()
      let runs = 0
      // Only the runner ends it; waiting for its end would take an hour.
      const errand = Errand.toLayer(() =>
        Effect.suspend(() => {
          const first = runs++ === 0
          return Deferred.succeed(begun[first ? 0 : 1], undefined).pipe(
            Effect.andThen(first ? Effect.never : Effect.void),
            Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
          )
        })
      )
      const { context } = yield* aRunner(url, errand, { entityTerminationTimeout: "1 hour" })
      yield* Effect.forkChild(Effect.provideContext(Errand.execute({ id: "1" }), context))
      yield* Deferred.await(begun[0])
      assert.strictEqual(
        yield* Effect.provide(endLocks, PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
        1
      )
      yield* Deferred.await(stopped)
      yield* Deferred.await(begun[1])
    })
)

it.live(
  "a runner whose database answers nothing for three seconds keeps its shards and what it works on",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const way = yield* stallingWay(url)
      const begun = yield* Deferred.make<void>()
      const done = yield* Deferred.make<void>()
      let runs = 0
      const errand = Errand.toLayer(() =>
        Effect.suspend(() => {
          runs++
          return Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(done))
        })
      )
      const { context } = yield* aRunner(way.url, errand, {
        shardLockRefreshInterval: 1_000
      })
      const errands = yield* Effect.forkChild(Effect.provideContext(Errand.execute({ id: "1" }), context))
      yield* Deferred.await(begun)
      yield* way.stall(3_000)
      yield* Deferred.succeed(done, undefined)
      yield* Fiber.join(errands)
      assert.strictEqual(runs, 1, "it was not interrupted")
    })
)

const Order = Workflow.make("Order", {
  payload: { id: Schema.String },
  success: Schema.String,
  idempotencyKey: ({ id }) => id
})

/** A runner that writes down what it ran. */
const runner = Effect.fnUntraced(function*(url: string, name: string, ran: Array<string>) {
  const { context, stop } = yield* aRunner(
    url,
    Order.toLayer(({ id }) => Effect.sync(() => ran.push(`${name} ${id}`)).pipe(Effect.as(`order ${id}`)))
  )
  const execute = (id: string) => Effect.provideContext(Order.execute({ id }), context)
  return { execute, stop }
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
      yield* eventually("both to hold shards", Effect.orDie(Effect.map(holders, (rows) => rows.length === 2))).pipe(
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
    })
)
