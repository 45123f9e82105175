import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric, Option } from "effect"
import { SqlMessageStorage } from "effect/cluster"
import { SqlClient } from "effect/sql"
import * as Batcher from "../../src/domain/platform/batching/Batcher.ts"
import { ShardTenure } from "../../src/layers/cluster/ActivationLookups.ts"
import * as GroupCommitMessageStorage from "../../src/layers/cluster/GroupCommitMessageStorage.ts"
import { lookupsSpared } from "../../src/layers/cluster/GroupCommitMessageStorage.ts"
import { answer, claim, idOf, primaryKeyOf, request } from "./Envelopes.ts"
import { grouped, start } from "./Storages.ts"

const failuresOf = (batcher: string) =>
  Effect.map(Metric.value(Metric.withAttributes(Batcher.batchFailures, { batcher })), (state) => state.count)

const all = { concurrency: "unbounded" } as const

it.layer(grouped)("GroupCommitMessageStorage", (it) => {
  describe("commits", () => {
    it.effect("simultaneous saves are committed in few transactions", () =>
      Effect.gen(function*() {
        const storage = yield* start
        const sql = yield* SqlClient.SqlClient
        const sent = Array.from({ length: 100 }, () => request())
        yield* Effect.forEach(sent, storage.saveEnvelope, all)
        yield* Effect.forEach(sent, (one) => storage.saveReply(answer(one)), all)
        const [row] = yield* sql<{ saves: bigint; replies: bigint }>`
          select (select count(distinct m.xmin::text) from cluster_messages m) as saves,
            (select count(distinct r.xmin::text) from cluster_replies r) as replies`
        assert.isAtMost(Number(row?.saves), 5)
        assert.isAtMost(Number(row?.replies), 5)
        assert.deepStrictEqual(yield* claim(storage), [])
      }))

    it.effect("simultaneous look-ups share a statement, each with the right answer", () =>
      Effect.gen(function*() {
        const storage = yield* start
        const sent = ["a", "b"].map((key) => request({ key }))
        for (const one of sent) yield* storage.saveEnvelope(one)
        const keys = ["a", "b", "none", "a"].map((key) => primaryKeyOf({ key }))
        const ids = yield* Effect.forEach(keys, storage.requestIdForPrimaryKey, all)
        const [a, b] = sent.map(idOf)
        assert.deepStrictEqual(ids.map((id) => Option.getOrUndefined(id)?.toString()), [a, b, undefined, a])
      }))

    it.effect("saves are written in key order, so that two storages with the same keys do not deadlock", () =>
      Effect.gen(function*() {
        const storages = [yield* start, yield* GroupCommitMessageStorage.makeEncoded] as const
        const before = yield* failuresOf("messages.save")
        for (let round = 0; round < 5; round++) {
          const keys = Array.from({ length: 400 }, (_, n) => `${round} key ${n}`)
          const results = yield* Effect.forEach(
            [keys, keys.toReversed()],
            (order, n) =>
              Effect.forEach(order, (key) => (n === 0 ? storages[0] : storages[1]).saveEnvelope(request({ key })), all),
            all
          )
          assert.strictEqual(results.flat().filter((result) => result._tag === "Success").length, keys.length)
        }
        assert.strictEqual(yield* failuresOf("messages.save"), before)
      }))
  })

  it.effect("the storage leaves a key that must be hashed to the stock storage, without failing a batch", () =>
    Effect.gen(function*() {
      const storage = yield* start
      const before = yield* failuresOf("messages.save")
      const sent = [request({ key: "long/".repeat(80) }), request({ key: "short" })]
      yield* Effect.forEach(sent, storage.saveEnvelope, all)
      assert.strictEqual((yield* claim(storage)).length, 2)
      assert.strictEqual(yield* failuresOf("messages.save"), before)
    }))

  describe("looks for the interrupt of an execution", () => {
    const run = (entityId: string) => request({ entityType: "Workflow/Order", entityId, tag: "run", key: "" })
    const interruption = (entityId: string) =>
      request({ entityType: "Workflow/Order", entityId, tag: "deferred", key: "Workflow/InterruptSignal" })
    const interruptKey = (entityId: string) => `Workflow/Order/${entityId}/deferred/Workflow/InterruptSignal`
    const spared = Effect.map(Metric.value(lookupsSpared), (state) => state.count)
    const held = Effect.tap(ShardTenure, (tenure) => Effect.sync(() => tenure.begin(["default:1"])))

    it.effect("the interrupt of an execution just started here is not looked up once, and then in the table", () =>
      Effect.gen(function*() {
        const storage = yield* start
        yield* held
        const before = yield* spared
        yield* storage.saveEnvelope(run("new"))
        assert.deepStrictEqual(yield* storage.requestIdForPrimaryKey(interruptKey("new")), Option.none())
        assert.strictEqual(yield* spared, before + 1)
        const stored = interruption("new")
        yield* (yield* SqlMessageStorage.makeEncodedStorage({})).saveEnvelope(stored)
        const found = yield* storage.requestIdForPrimaryKey(interruptKey("new"))
        assert.strictEqual(Option.getOrUndefined(found)?.toString(), idOf(stored))
        assert.strictEqual(yield* spared, before + 1)
      }))

    it.effect("an interrupt from another process that was handed out here is looked up in the table", () =>
      Effect.gen(function*() {
        const storage = yield* start
        yield* held
        yield* storage.saveEnvelope(run("sent"))
        const stored = interruption("sent")
        yield* (yield* SqlMessageStorage.makeEncodedStorage({})).saveEnvelope(stored)
        assert.strictEqual((yield* claim(storage)).length, 2)
        const found = yield* storage.requestIdForPrimaryKey(interruptKey("sent"))
        assert.strictEqual(Option.getOrUndefined(found)?.toString(), idOf(stored))
      }))

    it.effect("the interrupt of an older execution, or of a shard held elsewhere, is looked up in the table", () =>
      Effect.gen(function*() {
        const storage = yield* start
        const tenure = yield* held
        const stock = yield* SqlMessageStorage.makeEncodedStorage({})
        for (const entityId of ["old", "elsewhere"]) {
          if (entityId === "old") yield* stock.saveEnvelope(run(entityId))
          else tenure.end(["default:1"])
          const stored = interruption(entityId)
          yield* stock.saveEnvelope(stored)
          yield* storage.saveEnvelope(run(entityId))
          const found = yield* storage.requestIdForPrimaryKey(interruptKey(entityId))
          assert.strictEqual(Option.getOrUndefined(found)?.toString(), idOf(stored))
        }
      }))
  })

  describe("when one row of a batch cannot be written", () => {
    it.effect("a request that cannot be written fails alone, and the others of its batch are saved", () =>
      Effect.gen(function*() {
        const storage = yield* start
        const before = yield* failuresOf("messages.save")
        const sent = ["a", "poison".repeat(50), "b", "c"].map((entityId, n) => request({ entityId, key: String(n) }))
        // The composed key stays short enough for the batch; only the column refuses.
        const poison = sent[1]
        if (poison === undefined) return assert.fail("no poison")
        sent[1] = { ...poison, primaryKey: "Block/poison/book/1" }
        const exits = yield* Effect.forEach(sent, (one) => Effect.exit(storage.saveEnvelope(one)), all)
        assert.deepStrictEqual(exits.map((exit) => exit._tag), ["Success", "Failure", "Success", "Success"])
        assert.strictEqual(yield* failuresOf("messages.save"), before + 1)
        const saved = [sent[0], sent[2], sent[3]].map((one) => idOf(one ?? request()))
        assert.deepStrictEqual(new Set(yield* claim(storage)), new Set(saved))
      }))

    it.effect("a second final reply of a request is refused alone, and the others of its batch are stored", () =>
      Effect.gen(function*() {
        const storage = yield* start
        const before = yield* failuresOf("replies.save")
        const sent = ["a", "b", "c"].map((entityId) => request({ entityId }))
        for (const one of sent) yield* storage.saveEnvelope(one)
        const replies = [...sent, ...sent.slice(1, 2)].map((one) => answer(one))
        const exits = yield* Effect.forEach(replies, (reply) => Effect.exit(storage.saveReply(reply)), all)
        assert.strictEqual(exits.filter((exit) => exit._tag === "Failure").length, 1)
        assert.strictEqual(yield* failuresOf("replies.save"), before + 1)
        for (const one of sent) assert.strictEqual((yield* storage.repliesFor([idOf(one)])).length, 1)
        assert.deepStrictEqual(yield* claim(storage), [])
      }))
  })

  describe("when a batch was committed but its answer was lost", () => {
    // The same row again, in a batch that fails, is what such a batch leaves to its callers.
    it.effect("a batch that was committed without an answer counts as stored, once", () =>
      Effect.gen(function*() {
        const storage = yield* start
        const sql = yield* SqlClient.SqlClient
        const saved = request()
        const reply = answer(saved)
        yield* storage.saveEnvelope(saved)
        yield* storage.saveReply(reply)
        const other = request({ entityId: "other" })
        yield* storage.saveEnvelope(other)
        const exits = yield* Effect.forEach([reply, answer(other)], (one) => Effect.exit(storage.saveReply(one)), all)
        assert.deepStrictEqual(exits.map((exit) => exit._tag), ["Success", "Success"])
        const [row] = yield* sql<{ n: bigint }>`select count(*) as n from cluster_replies`
        assert.strictEqual(Number(row?.n), 2)
        const open = request({ entityId: "open", key: "open" })
        yield* storage.saveEnvelope(open)
        const poison = { ...request({ entityId: "p".repeat(300) }), primaryKey: "Block/p/book/1" }
        const results = yield* Effect.forEach([open, poison], (one) => Effect.exit(storage.saveEnvelope(one)), all)
        assert.deepStrictEqual(results.map((exit) => exit._tag === "Success" ? exit.value._tag : exit._tag), [
          "Success",
          "Failure"
        ])
      }))
  })
})
