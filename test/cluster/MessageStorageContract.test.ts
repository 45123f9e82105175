import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Snowflake } from "effect/cluster"
import { SqlClient } from "effect/sql"
import {
  acknowledgement,
  address,
  answer,
  chunk,
  claim,
  idOf,
  interrupt,
  lastReply,
  nextId,
  originalId,
  primaryKeyOf,
  request
} from "./Envelopes.ts"
import { grouped, start, stock, type Storage } from "./Storages.ts"

type Encoded = Storage["Service"]

/** What every message storage does; Effect's own defines it. */
const contract: Readonly<Record<string, (storage: Encoded) => Effect.Effect<void, unknown, SqlClient.SqlClient>>> = {
  "hands out open requests in the order of arrival, each once": Effect.fnUntraced(function*(storage: Encoded) {
    const sent = [3, 1, 2, 5, 4].map((n) => request({ entityId: String(n) }))
    for (const one of sent) assert.strictEqual((yield* storage.saveEnvelope(one))._tag, "Success")
    yield* storage.saveReply(answer(sent[2] ?? request()))
    assert.deepStrictEqual(yield* claim(storage), [0, 1, 3, 4].map((n) => idOf(sent[n] ?? request())))
    assert.deepStrictEqual(yield* claim(storage), [])
    const late = request()
    yield* storage.saveEnvelope(late)
    assert.deepStrictEqual(yield* claim(storage), [idOf(late)])
  }),

  "gives back every field of a request": Effect.fnUntraced(function*(storage: Encoded) {
    const sampled = request({ payload: { name: "Zoë \" ' \\ \u0000", parts: [1, null] }, sampled: true })
    const plain = request({ payload: null, key: null })
    const { traceId: _, spanId: __, ...untraced } = request().envelope
    yield* storage.saveEnvelope(sampled)
    yield* storage.saveEnvelope(plain)
    yield* storage.saveEnvelope({ ...request(), envelope: untraced })
    const claimed = yield* storage.unprocessedMessages(["default:1"], Date.now())
    assert.deepStrictEqual(claimed.map(({ envelope }) => envelope), [
      sampled.envelope,
      { ...plain.envelope, sampled: false },
      untraced
    ])
  }),

  "answers a repeated key with the first request and its last reply": Effect.fnUntraced(function*(storage: Encoded) {
    const first = request({ key: "7" })
    yield* storage.saveEnvelope(first)
    const open = yield* storage.saveEnvelope(request({ key: "7" }))
    assert.strictEqual(originalId(open), idOf(first))
    assert.isUndefined(lastReply(open))
    const part = chunk(first, 0)
    yield* storage.saveReply(part)
    assert.strictEqual(lastReply(yield* storage.saveEnvelope(request({ key: "7" }))), "Chunk")
    yield* storage.saveEnvelope(acknowledgement(first, part))
    yield* storage.saveReply(answer(first))
    assert.strictEqual(lastReply(yield* storage.saveEnvelope(request({ key: "7" }))), "WithExit")
  }),

  "lets exactly one of many simultaneous requests with one key through": Effect.fnUntraced(function*(storage: Encoded) {
    const sent = Array.from({ length: 20 }, () => request({ key: "same" }))
    const results = yield* Effect.forEach(sent, storage.saveEnvelope, { concurrency: "unbounded" })
    const winners = sent.filter((_, n) => results[n]?._tag === "Success").map(idOf)
    assert.strictEqual(winners.length, 1)
    assert.deepStrictEqual(
      new Set(results.filter((result) => result._tag === "Duplicate").map(originalId)),
      new Set(winners)
    )
  }),

  "finds a request by its key, short or longer than the column": Effect.fnUntraced(function*(storage: Encoded) {
    const sql = yield* SqlClient.SqlClient
    for (const key of ["short", "long/".repeat(80)]) {
      const saved = request({ key })
      yield* storage.saveEnvelope(saved)
      const primaryKey = primaryKeyOf({ key })
      assert.deepStrictEqual(
        yield* storage.requestIdForPrimaryKey(primaryKey),
        Option.some(Snowflake.Snowflake(idOf(saved)))
      )
      assert.strictEqual(originalId(yield* storage.saveEnvelope(request({ key }))), idOf(saved))
      const [row] = yield* sql<{ message_id: string }>`
        select message_id from cluster_messages where id = ${idOf(saved)}::text::bigint`
      if (key === "short") assert.strictEqual(row?.message_id, primaryKey)
      else assert.match(row?.message_id ?? "", /^[0-9a-f]{64}$/)
    }
    assert.deepStrictEqual(yield* storage.requestIdForPrimaryKey("Block/1/book/never"), Option.none())
  }),

  "claims no more than the limit and leaves the rest to the next read": Effect.fnUntraced(function*(storage: Encoded) {
    const sent = ["a", "b", "c", "d", "e"].map((entityId) => request({ entityId }))
    for (const one of sent) yield* storage.saveEnvelope(one)
    assert.deepStrictEqual(yield* claim(storage, { limit: 3 }), sent.slice(0, 3).map(idOf))
    assert.deepStrictEqual(yield* claim(storage), sent.slice(3).map(idOf))
  }),

  "claims only for the given entities on their own shards": Effect.fnUntraced(function*(storage: Encoded) {
    const [a1, b1, a2] = [
      request({ entityId: "a" }),
      request({ entityId: "b" }),
      request({ entityId: "a", shard: 2 })
    ]
    for (const one of [a1, b1, a2]) yield* storage.saveEnvelope(one)
    assert.deepStrictEqual(yield* claim(storage, { shards: [1, 2], addresses: [] }), [])
    assert.deepStrictEqual(yield* claim(storage, { shards: [1, 2], addresses: [address("a")] }), [idOf(a1)])
    assert.deepStrictEqual(
      yield* claim(storage, { shards: [2], addresses: [address("b"), address("a", 2)] }),
      [idOf(a2)]
    )
    assert.deepStrictEqual(yield* claim(storage, { shards: [1, 2] }), [idOf(b1)])
  }),

  "hands a delayed request out when its time has come": Effect.fnUntraced(function*(storage: Encoded) {
    const due = Date.now() + 60_000
    const delayed = request({ deliverAt: due })
    yield* storage.saveEnvelope(delayed)
    assert.deepStrictEqual(yield* claim(storage, { now: due - 1 }), [])
    assert.deepStrictEqual(yield* claim(storage, { now: due }), [idOf(delayed)])
  }),

  "gives a claim back for requests, entities and shards, and for nothing when none is named": Effect.fnUntraced(
    function*(storage: Encoded) {
      const sent = ["a", "b", "c"].map((entityId) => request({ entityId }))
      const [a, b, c] = sent.map(idOf)
      for (const one of sent) yield* storage.saveEnvelope(one)
      yield* claim(storage)
      yield* storage.resetAddresses([])
      yield* storage.resetRequests([])
      assert.deepStrictEqual(yield* claim(storage), [])
      yield* storage.resetAddresses([address("a"), address("c")])
      assert.deepStrictEqual(yield* claim(storage), [a, c])
      yield* storage.resetRequests([Snowflake.Snowflake(b ?? "0")])
      assert.deepStrictEqual(yield* claim(storage), [b])
      yield* storage.resetShards(["default:1"])
      assert.deepStrictEqual(yield* claim(storage), [a, b, c])
      yield* storage.resetShards(["default:2"])
      assert.deepStrictEqual(yield* claim(storage), [])
    }
  ),

  "reads open requests by id without claiming them": Effect.fnUntraced(function*(storage: Encoded) {
    const saved = request()
    yield* storage.saveEnvelope(saved)
    const byId = storage.unprocessedMessagesById([Snowflake.Snowflake(idOf(saved))], Date.now())
    assert.strictEqual((yield* byId).length, 1)
    assert.deepStrictEqual(yield* claim(storage), [idOf(saved)])
    yield* storage.saveReply(answer(saved))
    assert.strictEqual((yield* byId).length, 0)
  }),

  "stores one final reply per request and refuses a second": Effect.fnUntraced(function*(storage: Encoded) {
    const saved = request()
    yield* storage.saveEnvelope(saved)
    assert.deepStrictEqual(yield* storage.repliesFor([idOf(saved)]), [])
    const reply = answer(saved, { seats: [1, 2] })
    yield* storage.saveReply(reply)
    assert.deepStrictEqual(yield* storage.repliesFor([idOf(saved)]), [reply])
    const error = yield* Effect.flip(storage.saveReply(answer(saved)))
    assert.strictEqual(error._tag, "PersistenceError")
    assert.deepStrictEqual(yield* storage.repliesForUnfiltered([idOf(saved)]), [reply])
  }),

  "waits with a streaming request until its chunk is acknowledged": Effect.fnUntraced(function*(storage: Encoded) {
    const saved = request()
    yield* storage.saveEnvelope(saved)
    const part = chunk(saved, 0)
    yield* storage.saveReply(part)
    assert.deepStrictEqual(yield* claim(storage), [])
    assert.deepStrictEqual(yield* storage.repliesFor([idOf(saved)]), [part])
    yield* storage.saveEnvelope(acknowledgement(saved, part))
    assert.deepStrictEqual(yield* storage.repliesFor([idOf(saved)]), [])
    const [first, second] = yield* storage.unprocessedMessages(["default:1"], Date.now())
    assert.deepStrictEqual(first?.lastSentReply, Option.some(part))
    assert.strictEqual(second?.envelope._tag, "AckChunk")
    yield* storage.saveReply(answer(saved))
    yield* storage.resetShards(["default:1"])
    assert.deepStrictEqual(yield* claim(storage), [])
  }),

  "hands out an interrupt, and none for an answered request": Effect.fnUntraced(function*(storage: Encoded) {
    const saved = request()
    yield* storage.saveEnvelope(saved)
    yield* storage.saveEnvelope(interrupt(saved))
    assert.deepStrictEqual(yield* claim(storage), [idOf(saved), "Interrupt"])
    yield* storage.saveReply(answer(saved))
    yield* storage.resetShards(["default:1"])
    assert.deepStrictEqual(yield* claim(storage), [])
  }),

  "marks an answered request, and what belongs to it, as processed": Effect.fnUntraced(function*(storage: Encoded) {
    const sql = yield* SqlClient.SqlClient
    const [answered, open] = [request(), request()]
    for (const one of [answered, open]) {
      yield* storage.saveEnvelope(one)
      yield* storage.saveEnvelope(interrupt(one))
    }
    const reply = answer(answered)
    yield* storage.saveReply(reply)
    const rows = yield* sql<{ processed: boolean; request_id: bigint; last_reply_id: bigint | null }>`
      select processed, request_id, last_reply_id from cluster_messages order by rowid`
    assert.deepStrictEqual(
      rows.map((row) => [row.processed, String(row.request_id), row.last_reply_id?.toString()]),
      [
        [true, idOf(answered), reply.id],
        [true, idOf(answered), reply.id],
        [false, idOf(open), undefined],
        [false, idOf(open), undefined]
      ]
    )
  }),

  "opens a request again when its reply is cleared, but not when a newer reply came": Effect.fnUntraced(
    function*(storage: Encoded) {
      const saved = request()
      const id = Snowflake.Snowflake(idOf(saved))
      yield* storage.saveEnvelope(saved)
      const reply = answer(saved)
      yield* storage.saveReply(reply)
      yield* storage.clearReplies(id, { expectedReplyId: Snowflake.Snowflake(nextId()) })
      assert.deepStrictEqual(yield* claim(storage), [])
      yield* storage.clearReplies(id, { expectedReplyId: Snowflake.Snowflake(reply.id) })
      assert.deepStrictEqual(yield* claim(storage), [idOf(saved)])
      yield* storage.saveReply(answer(saved, "again"))
      yield* storage.clearReplies(id)
      assert.deepStrictEqual(yield* claim(storage), [idOf(saved)])
    }
  ),

  "clears an entity with its replies and leaves the others": Effect.fnUntraced(function*(storage: Encoded) {
    const [gone, kept] = [request({ entityId: "gone" }), request({ entityId: "kept" })]
    for (const one of [gone, kept]) {
      yield* storage.saveEnvelope(one)
      yield* storage.saveReply(answer(one))
    }
    yield* storage.clearAddress(address("gone"))
    assert.deepStrictEqual(yield* storage.repliesForUnfiltered([idOf(gone)]), [])
    assert.strictEqual((yield* storage.repliesForUnfiltered([idOf(kept)])).length, 1)
    assert.strictEqual((yield* storage.saveEnvelope(gone))._tag, "Success")
  }),

  "keeps nothing of a transaction that is rolled back": Effect.fnUntraced(function*(storage: Encoded) {
    const before = request({ key: "before" })
    yield* storage.saveEnvelope(before)
    const within = request({ key: "within" })
    const exit = yield* Effect.exit(storage.withTransaction(Effect.gen(function*() {
      yield* storage.saveEnvelope(within)
      yield* storage.saveReply(answer(before))
      assert.deepStrictEqual(
        yield* storage.requestIdForPrimaryKey(primaryKeyOf({ key: "within" })),
        Option.some(Snowflake.Snowflake(idOf(within)))
      )
      return yield* Effect.fail("rolled back")
    })))
    assert.strictEqual(exit._tag, "Failure")
    assert.deepStrictEqual(yield* claim(storage), [idOf(before)])
    assert.deepStrictEqual(yield* storage.repliesFor([idOf(before)]), [])
  })
}

it.layer(stock)("Effect's message storage", (it) => {
  for (const [title, test] of Object.entries(contract)) it.effect(title, () => Effect.flatMap(start, test))
})

it.layer(grouped)("the group-committing message storage", (it) => {
  for (const [title, test] of Object.entries(contract)) it.effect(title, () => Effect.flatMap(start, test))

  it.effect("keeps the order of arrival when many are saved at once", () =>
    Effect.gen(function*() {
      const storage = yield* start
      // Keys in the opposite order of arrival.
      const sent = Array.from({ length: 200 }, (_, n) => request({ key: String(1000 - n), id: nextId() }))
      yield* Effect.forEach(sent, storage.saveEnvelope, { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* claim(storage), sent.map(idOf))
    }))
})
