import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { MessageStorage } from "effect/cluster"
import { askedWhenDue, MessageArrivals } from "../../src/layers/cluster/MessageArrivals.ts"
import { address, request } from "./Envelopes.ts"
import { grouped, start } from "./Storages.ts"

const begun = 1_800_000_000_000

/** A process over the storage, which counts its looks for messages; the first one was made. */
const runner = Effect.gen(function*() {
  const storage = yield* start
  const arrivals = Context.get(yield* Layer.build(Layer.fresh(MessageArrivals.layer)), MessageArrivals)
  const database = { looks: 0, away: false }
  const counted: MessageStorage.Encoded = {
    ...storage,
    unprocessedMessages: (...asked) =>
      Effect.suspend(() => {
        database.looks++
        return database.away ? Effect.die("away") : storage.unprocessedMessages(...asked)
      })
  }
  const own = askedWhenDue(counted, arrivals)
  /** How many messages are found at a time. */
  const read = (ms: number, shard = "default:1") =>
    Effect.map(own.unprocessedMessages([shard], begun + ms, { limit: 2 }), ({ length }) => length)
  yield* read(0)
  return { arrivals, database, elsewhere: storage, own, read }
})

it.layer(grouped, { excludeTestServices: true })("a runner asks for messages", (it) => {
  it.effect("every two seconds while it hears of none", () =>
    Effect.gen(function*() {
      const { database, elsewhere, read } = yield* runner
      yield* elsewhere.saveEnvelope(request({ key: "unheard" }))
      assert.deepStrictEqual([yield* read(500), yield* read(1_999), database.looks], [0, 0, 1])
      assert.deepStrictEqual([yield* read(2_000), database.looks], [1, 2])
      // A clock that is set back must not make it wait.
      yield* read(-3_600_000)
      assert.strictEqual(database.looks, 3)
    }))

  it.effect("at once for what it saved, what another process says it saved, and what was freed", () =>
    Effect.gen(function*() {
      const { arrivals, elsewhere, own, read } = yield* runner
      yield* own.saveEnvelope(request({ key: "own" }))
      assert.strictEqual(yield* read(1), 1)
      yield* elsewhere.saveEnvelope(request({ key: "other" }))
      arrivals.note()
      assert.strictEqual(yield* read(2), 1)
      yield* own.resetAddresses([address("1")])
      assert.strictEqual(yield* read(3), 2)
    }))

  it.effect("when a delayed message that it saved is due", () =>
    Effect.gen(function*() {
      const { own, read } = yield* runner
      yield* own.saveEnvelope(request({ key: "later", deliverAt: begun + 700 }))
      assert.deepStrictEqual([yield* read(1), yield* read(699), yield* read(700)], [0, 0, 1])
    }))

  it.effect("for shards that it did not have", () =>
    Effect.gen(function*() {
      const { elsewhere, read } = yield* runner
      yield* elsewhere.saveEnvelope(request({ key: "moved", shard: 2 }))
      assert.strictEqual(yield* read(1, "default:2"), 1)
    }))

  it.effect("again after a full answer, and after one that did not come", () =>
    Effect.gen(function*() {
      const { database, own, read } = yield* runner
      for (const key of ["a", "b", "c"]) yield* own.saveEnvelope(request({ key, entityId: key }))
      assert.deepStrictEqual([yield* read(1), yield* read(2), yield* read(3)], [2, 1, 0])
      yield* own.saveEnvelope(request({ key: "d" }))
      database.away = true
      yield* Effect.exit(read(4))
      database.away = false
      assert.strictEqual(yield* read(5), 1)
    }))
})
