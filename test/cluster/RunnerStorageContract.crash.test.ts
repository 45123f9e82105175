import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { Runner, RunnerAddress, RunnerStorage, ShardId, ShardingConfig, SqlRunnerStorage } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { ShardTenure } from "../../src/layers/cluster/ActivationLookups.ts"
import { ClusterTables, sessionRunnerStorage } from "../../src/layers/cluster/ClusterStorage.ts"
import { ShardLocks } from "../../src/layers/cluster/ShardLocks.ts"
import { eventually } from "../support/Eventually.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { separateServer } from "../support/SeparateServer.ts"
import { tapOn } from "../support/StatementTap.ts"

const here = RunnerAddress.make("127.0.0.1", 1001)
const there = RunnerAddress.make("127.0.0.1", 1002)
const shards = (...ids: ReadonlyArray<number>) => ids.map((id) => ShardId.make("default", id))
const numbers = (held: ReadonlyArray<ShardId.ShardId>) => held.map((shardId) => shardId.id).sort((a, b) => a - b)

/** A process: a client with separate sessions, and a storage over it. */
const processOn = Effect.fnUntraced(function*(url: string, kind: "stock" | "session", advisory: boolean) {
  const storage = kind === "stock"
    ? SqlRunnerStorage.layerStorage({})
    : Layer.provide(sessionRunnerStorage, ShardLocks.layer(Redacted.make(url)))
  const context = yield* Layer.build(
    storage.pipe(
      Layer.provideMerge(Layer.merge(ClusterTables.layer, ShardTenure.layer)),
      Layer.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 3 })),
      Layer.provide(ShardingConfig.layer({ shardLockDisableAdvisory: !advisory }))
    )
  )
  const tenure = Context.get(context, ShardTenure)
  return { ...Context.get(context, RunnerStorage.RunnerStorage), tenure }
})

describe.each(
  [
    { kind: "stock", advisory: true },
    { kind: "stock", advisory: false },
    { kind: "session", advisory: true }
  ] as const
)("the $kind runner storage, advisory locks $advisory", ({ advisory, kind }) => {
  it.live("registers runners, keeps their health and forgets them", () =>
    Effect.gen(function*() {
      const storage = yield* processOn((yield* freshDatabase).url, kind, advisory)
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
      const storage = yield* processOn((yield* freshDatabase).url, kind, advisory)
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

  it.live("gives up all that are released at once, and nothing else", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const [mine, other] = [yield* processOn(url, kind, advisory), yield* processOn(url, kind, advisory)]
      yield* mine.acquire(here, shards(1, 2, 3, 4))
      yield* Effect.forEach(shards(1, 2, 3), (shard) => mine.release(here, shard), { concurrency: "unbounded" })
      assert.deepStrictEqual(numbers(yield* mine.refresh(here, shards(1, 2, 3, 4))), [4])
      assert.deepStrictEqual(numbers(yield* other.acquire(there, shards(1, 2, 3, 4))), [1, 2, 3])
    }))

  it.live("gives the shards of an expired runner to another and tells the first that they are gone", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const [mine, other] = [yield* processOn(url, kind, advisory), yield* processOn(url, kind, advisory)]
      yield* mine.acquire(here, shards(1, 2))
      yield* Effect.provide(expire, PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
      assert.deepStrictEqual(numbers(yield* other.acquire(there, shards(1, 2))), [1, 2])
      // Its first refresh may fail on the dead session; a later one, or a try to have them again, knows.
      yield* Effect.exit(mine.refresh(here, shards(1)))
      yield* mine.refresh(here, [])
      assert.deepStrictEqual(numbers(yield* mine.acquire(here, shards(1, 2))), [])
      assert.deepStrictEqual(numbers(yield* mine.refresh(here, shards(1))), [])
    }))

  it.live("tells each of many simultaneous callers only what it asked for and holds", () =>
    Effect.gen(function*() {
      const storage = yield* processOn((yield* freshDatabase).url, kind, advisory)
      yield* storage.acquire(here, shards(1, 2, 3, 4))
      const held = yield* Effect.forEach(
        [[1], [2, 9], [3, 4], [9], [1, 2, 3, 4]],
        (ids) => Effect.map(storage.refresh(here, shards(...ids)), numbers),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(held, [[1], [2], [3, 4], [], [1, 2, 3, 4]])
    }))
})

/** What a runner that vanished leaves behind: no session, and a lease that was not refreshed for an hour. */
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

describe("the locks of a session", () => {
  const locksAreGone = Effect.fnUntraced(function*(storage: RunnerStorage.RunnerStorage["Service"]) {
    assert.strictEqual((yield* Effect.flip(storage.refresh(here, shards(1))))._tag, "PersistenceError")
  })

  it.live("are confirmed without asking, and found lost at once when the session ends", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const tap = yield* tapOn(url)
      const storage = yield* processOn(tap.url, "session", true)
      yield* storage.acquire(here, shards(1, 2))
      tap.take()
      for (let n = 0; n < 50; n++) yield* storage.refresh(here, shards(1, 2))
      assert.deepStrictEqual(tap.take(), [])
      yield* Effect.provide(expire, PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
      yield* eventually("they are lost", Effect.map(Effect.exit(storage.refresh(here, shards(1))), Exit.isFailure))
      assert.isUndefined(storage.tenure.of("default:1"))
    }))

  it.live("are not acquired again before the runner knows of the loss", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const storage = yield* processOn(url, "session", true)
      yield* storage.acquire(here, shards(1, 2))
      yield* Effect.provide(expire, PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))
      yield* eventually("they are lost", Effect.map(Effect.exit(storage.refresh(here, shards(1))), Exit.isFailure))
      assert.deepStrictEqual(yield* storage.acquire(here, shards(3)), [])
      yield* locksAreGone(storage)
      yield* storage.refresh(here, [])
      assert.deepStrictEqual(numbers(yield* storage.acquire(here, shards(1, 3))), [1, 3])
    }))

  it.live("are released when the caller that wanted them is interrupted", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const [mine, other] = [yield* processOn(url, "session", true), yield* processOn(url, "session", true)]
      const asking = yield* Effect.forkChild(mine.acquire(here, shards(1, 2)), { startImmediately: true })
      yield* Fiber.interrupt(asking)
      yield* eventually(
        "somebody else has them",
        Effect.map(Effect.orDie(other.acquire(there, shards(1, 2))), (held) => held.length === 2)
      )
      assert.isUndefined(mine.tenure.of("default:1"))
    }))

  it.live("have a number for each time that they are held", () =>
    Effect.gen(function*() {
      const { tenure, ...storage } = yield* processOn((yield* freshDatabase).url, "session", true)
      assert.isUndefined(tenure.of("default:1"))
      yield* storage.acquire(here, shards(1, 2))
      const since = tenure.of("default:1")
      assert.isDefined(since)
      yield* storage.refresh(here, shards(1, 2))
      assert.strictEqual(tenure.of("default:1"), since)
      yield* storage.release(here, ShardId.make("default", 1))
      assert.isUndefined(tenure.of("default:1"))
      yield* storage.acquire(here, shards(1))
      assert.notStrictEqual(tenure.of("default:1"), since)
      yield* storage.releaseAll(here)
      assert.isUndefined(tenure.of("default:2"))
    }))

  it.live("are looked for until the database is back: a look that is under way finds it then", () =>
    Effect.gen(function*() {
      const database = yield* separateServer
      const storage = yield* processOn(database.url, "session", true)
      yield* storage.acquire(here, shards(1, 2))
      yield* database.stop
      yield* locksAreGone(storage)
      const looking = yield* Effect.forkChild(Effect.all([storage.refresh(here, []), storage.getRunners]))
      yield* database.start
      assert.deepStrictEqual(yield* Fiber.join(looking), [[], []])
      assert.deepStrictEqual(numbers(yield* storage.acquire(here, shards(1, 2))), [1, 2])
    }))
})
