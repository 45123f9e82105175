import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Workflow } from "effect/workflow"
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
  "a runner whose locks went with their connection stops what it works on at once, and takes it up again",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const begun = [yield* Deferred.make<void>(), yield* Deferred.make<void>()] as const
      const stopped = yield* Deferred.make<void>()
      let runs = 0
      // Only the runner ends it, and waiting for its end would take as long as allowed.
      const errand = Errand.toLayer(() =>
        Effect.suspend(() => {
          const first = runs++ === 0
          return Deferred.succeed(begun[first ? 0 : 1], undefined).pipe(
            Effect.andThen(first ? Effect.never : Effect.void),
            Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
          )
        })
      )
      const { context } = yield* aRunner(url, errand)
      yield* Effect.forkChild(Effect.provideContext(Errand.execute({ id: "1" }), context))
      yield* Deferred.await(begun[0])
      const lost = performance.now()
      assert.strictEqual(
        yield* Effect.provide(endLocks, PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
        1
      )
      yield* Deferred.await(stopped)
      yield* Deferred.await(begun[1])
      assert.isAtMost(performance.now() - lost, 10_000, "15 s were allowed for it to finish")
    }),
  60_000
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
        shardLockExpiration: 6_000,
        shardLockRefreshInterval: 1_000
      })
      const errands = yield* Effect.forkChild(Effect.provideContext(Errand.execute({ id: "1" }), context))
      yield* Deferred.await(begun)
      yield* way.stall(3_000)
      yield* Deferred.succeed(done, undefined)
      yield* Fiber.join(errands)
      assert.strictEqual(runs, 1, "it was not interrupted")
    }),
  60_000
)
