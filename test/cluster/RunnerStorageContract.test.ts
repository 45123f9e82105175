import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer, Redacted } from "effect"
import {
  ClusterError,
  Runner,
  RunnerAddress,
  RunnerStorage,
  ShardId,
  ShardingConfig,
  SqlRunnerStorage
} from "effect/cluster"
import { SqlClient } from "effect/sql"
import { ClusterTables } from "../../src/layers/cluster/ClusterTables.ts"
import * as CoalescedRunnerStorage from "../../src/layers/cluster/CoalescedRunnerStorage.ts"
import { ShardTenure } from "../../src/layers/cluster/ShardTenure.ts"
import { freshDatabase } from "../support/Postgres.ts"

const here = RunnerAddress.make("127.0.0.1", 1001)
const there = RunnerAddress.make("127.0.0.1", 1002)
const shards = (...ids: ReadonlyArray<number>) => ids.map((id) => ShardId.make("default", id))
const numbers = (held: ReadonlyArray<ShardId.ShardId>) => held.map((shardId) => shardId.id).sort((a, b) => a - b)

const coalesced = (inner: Effect.Effect<RunnerStorage.RunnerStorage["Service"], unknown>) =>
  Effect.flatMap(inner, (storage) =>
    CoalescedRunnerStorage.make.pipe(
      Effect.provideService(RunnerStorage.RunnerStorage, storage),
      Effect.provide(ShardTenure.layer)
    ))

/** A process: a client with its own sessions, and a storage over it. */
const processOn = Effect.fnUntraced(function*(url: string, kind: "stock" | "coalesced", advisory: boolean) {
  const context = yield* Layer.build(
    SqlRunnerStorage.layerStorage({}).pipe(
      Layer.provideMerge(ClusterTables.layer),
      Layer.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 3 })),
      Layer.provide(ShardingConfig.layer({ shardLockDisableAdvisory: !advisory }))
    )
  )
  const stock = Effect.provideContext(RunnerStorage.RunnerStorage, context)
  return yield* kind === "stock" ? stock : coalesced(stock)
})

describe.each(
  [
    { kind: "stock", advisory: true },
    { kind: "stock", advisory: false },
    { kind: "coalesced", advisory: true },
    { kind: "coalesced", advisory: false }
  ] as const
)("the $kind runner storage, advisory locks $advisory", ({ advisory, kind }) => {
  it.live("registers runners, keeps their health and forgets them", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const storage = yield* processOn(url, kind, advisory)
      const runner = Runner.make({ address: here, groups: ["default"], weight: 1 })
      const machine = yield* storage.register(runner, true)
      assert.strictEqual(yield* storage.register(runner, true), machine)
      assert.deepStrictEqual(yield* storage.getRunners, [[runner, true]])
      yield* storage.setRunnerHealth(here, false)
      assert.deepStrictEqual(yield* storage.getRunners, [[runner, false]])
      yield* storage.unregister(here)
      assert.deepStrictEqual(yield* storage.getRunners, [])
    }))

  it.live("holds what it acquired, again and after a refresh, and gives up what it released", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const storage = yield* processOn(url, kind, advisory)
      assert.deepStrictEqual(numbers(yield* storage.acquire(here, shards(1, 2, 3))), [1, 2, 3])
      assert.deepStrictEqual(numbers(yield* storage.acquire(here, shards(1, 2, 3))), [1, 2, 3])
      assert.deepStrictEqual(numbers(yield* storage.refresh(here, shards(1, 2, 3))), [1, 2, 3])
      yield* storage.release(here, ShardId.make("default", 2))
      assert.deepStrictEqual(numbers(yield* storage.refresh(here, shards(1, 2, 3))), [1, 3])
      yield* storage.releaseAll(here)
      assert.deepStrictEqual(numbers(yield* storage.refresh(here, shards(1))), [])
    }))

  it.live("keeps another runner out of a held shard until it is released", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const [mine, other] = [yield* processOn(url, kind, advisory), yield* processOn(url, kind, advisory)]
      yield* mine.acquire(here, shards(1, 2))
      assert.deepStrictEqual(numbers(yield* other.acquire(there, shards(1, 2, 3))), [3])
      assert.deepStrictEqual(numbers(yield* other.refresh(there, shards(1, 2, 3))), [3])
      yield* mine.release(here, ShardId.make("default", 1))
      assert.deepStrictEqual(numbers(yield* other.acquire(there, shards(1, 2))), [1])
    }))

  it.live("gives the shards of an expired runner to another and tells the first that they are gone", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const [mine, other] = [yield* processOn(url, kind, advisory), yield* processOn(url, kind, advisory)]
      yield* mine.acquire(here, shards(1, 2))
      yield* Effect.provide(expire, PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
      assert.deepStrictEqual(numbers(yield* other.acquire(there, shards(1, 2))), [1, 2])
      // Its first refresh may fail on the dead session; a later one knows.
      const left = yield* Effect.retry(mine.refresh(here, shards(1)), { times: 20 })
      assert.deepStrictEqual(numbers(left), [])
    }))

  it.live("tells each of many simultaneous callers only what it asked for and holds", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const storage = yield* processOn(url, kind, advisory)
      yield* storage.acquire(here, shards(1, 2, 3, 4))
      const held = yield* Effect.forEach(
        [[1], [2, 9], [3, 4], [9], [1, 2, 3, 4]],
        (ids) => Effect.map(storage.refresh(here, shards(...ids)), numbers),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(held, [[1], [2], [3, 4], [], [1, 2, 3, 4]])
    }))
})

/** What a runner that vanished leaves behind: no session, and a lease nobody has refreshed for an hour. */
const expire = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update cluster_locks set acquired_at = now() - interval '1 hour' where address = ${"127.0.0.1:1001"}`
  const ended = sql`
    select pg_terminate_backend(l.pid) from pg_locks l
    where l.locktype = 'advisory' and l.objsubid = 2 and l.database = (
      select oid from pg_database where datname = current_database()
    ) group by l.pid`
  while ((yield* ended).length > 0) yield* Effect.yieldNow
})

describe("CoalescedRunnerStorage", () => {
  const recording = () => {
    const gate = Latch.makeUnsafe(false)
    const calls: Array<ReadonlyArray<number>> = []
    let failing = false
    const inner = Effect.map(RunnerStorage.makeMemory, (memory) =>
      RunnerStorage.RunnerStorage.of({
        ...memory,
        refresh: (_, asked) => {
          const wanted = [...asked]
          calls.push(numbers(wanted))
          if (wanted.length === 0) return Effect.succeed([])
          if (failing) return Effect.fail(new ClusterError.PersistenceError({ cause: "no connection" }))
          return Effect.as(gate.await, wanted.filter((shardId) => shardId.id < 10))
        }
      }))
    return {
      gate,
      calls,
      inner,
      fail: () => {
        failing = true
      }
    }
  }
  const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
  const settle = Effect.forEach(Array.from({ length: 10 }), () => Effect.yieldNow, { discard: true })

  it.effect("answers refreshes that come while one is in flight with one following refresh", () =>
    Effect.gen(function*() {
      const { calls, gate, inner } = recording()
      const storage = yield* coalesced(inner)
      const first = yield* fork(storage.refresh(here, shards(1)))
      yield* settle
      const others = yield* Effect.forEach([[2], [3, 12], [2, 4]], (ids) => fork(storage.refresh(here, shards(...ids))))
      yield* settle
      assert.deepStrictEqual(calls, [[1]])
      yield* gate.open
      assert.deepStrictEqual(numbers(yield* Fiber.join(first)), [1])
      assert.deepStrictEqual((yield* Effect.forEach(others, Fiber.join)).map(numbers), [[2], [3], [2, 4]])
      assert.deepStrictEqual(calls, [[1], [2, 3, 4, 12]])
    }))

  it.effect("lets the liveness probe pass a refresh that hangs", () =>
    Effect.gen(function*() {
      const { calls, inner } = recording()
      const storage = yield* coalesced(inner)
      yield* fork(storage.refresh(here, shards(1)))
      yield* settle
      assert.deepStrictEqual(yield* storage.refresh(here, []), [])
      assert.deepStrictEqual(calls, [[1], []])
    }))

  it.effect("fails every caller of a failed refresh", () =>
    Effect.gen(function*() {
      const { fail, inner } = recording()
      const storage = yield* coalesced(inner)
      fail()
      const errors = yield* Effect.forEach([1, 2], (id) => Effect.flip(storage.refresh(here, shards(id))), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(errors.map((error) => error._tag), ["PersistenceError", "PersistenceError"])
    }))

  it.effect("fails where several shards were asked for and none is held any more: their connection is gone", () =>
    Effect.gen(function*() {
      const { gate, inner } = recording()
      yield* gate.open
      const storage = yield* coalesced(inner)
      assert.strictEqual((yield* Effect.flip(storage.refresh(here, shards(11, 12))))._tag, "PersistenceError")
      assert.deepStrictEqual(numbers(yield* storage.refresh(here, shards(1, 12))), [1])
      assert.deepStrictEqual(yield* storage.refresh(here, shards(12)), [])
    }))

  it.effect("records since when each shard is held", () =>
    Effect.gen(function*() {
      const { gate, inner } = recording()
      yield* gate.open
      const tenure = yield* ShardTenure
      const storage = yield* CoalescedRunnerStorage.make.pipe(
        Effect.provideService(RunnerStorage.RunnerStorage, yield* inner)
      )
      assert.isUndefined(tenure.of("default:1"))
      yield* storage.acquire(here, shards(1, 2, 12))
      const since = tenure.of("default:1")
      assert.isDefined(since)
      yield* storage.refresh(here, shards(1, 12))
      assert.strictEqual(tenure.of("default:1"), since)
      assert.isUndefined(tenure.of("default:12"), "found lost")
      yield* storage.release(here, ShardId.make("default", 1))
      assert.isUndefined(tenure.of("default:1"))
      yield* storage.acquire(here, shards(1))
      assert.notStrictEqual(tenure.of("default:1"), since)
      yield* storage.releaseAll(here)
      assert.isUndefined(tenure.of("default:2"))
    }).pipe(Effect.provide(ShardTenure.layer)))
})
