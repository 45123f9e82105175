import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DurableDeferred, Workflow } from "effect/workflow"
import { ClusterRetention } from "../../src/layers/cluster/ClusterRetention.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { acknowledgement, answer, chunk, idOf, interrupt, nextId, request, type RequestFields } from "./Envelopes.ts"
import { aProcess } from "./Runners.ts"
import { grouped, start, Storage, until } from "./Storages.ts"

const day = 24 * 60 * 60 * 1000
const window = { window: "7 days" } as const

/** Saves a request of the given age (ms), answered `answered` ms ago unless undefined. */
const save = Effect.fnUntraced(function*(fields: RequestFields & { readonly answered?: number }, value?: unknown) {
  const storage = yield* Storage
  const saved = request({ age: 10 * day, ...fields })
  yield* storage.saveEnvelope(saved)
  if (fields.answered !== undefined) yield* storage.saveReply(answer(saved, value, fields.answered))
  return saved
})

const step = (entityId: string, key: string, answered = 10 * day): RequestFields & { readonly answered: number } => ({
  entityType: "Workflow/Order",
  entityId,
  tag: "activity",
  key,
  answered
})
const run = (entityId: string): RequestFields => ({ entityType: "Workflow/Order", entityId, tag: "run", key: "" })

const left = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ id: bigint }>`select id from cluster_messages order by id`
  const replies = yield* sql<{ n: number }>`select count(*)::int4 as n from cluster_replies`
  return { ids: rows.map((row) => String(row.id)), replies: replies[0]?.n }
})
const sorted = (...saved: ReadonlyArray<{ readonly envelope: { readonly requestId: string } }>) =>
  saved.map((one) => one.envelope.requestId).toSorted((a, b) => Number(BigInt(a) - BigInt(b)))

/** Starts with empty tables. */
const retention = Effect.andThen(start, ClusterRetention)

const layer = ClusterRetention.layer.pipe(Layer.provideMerge(grouped))

// The real clock: the ids carry real times, and a test clock moved by decades would run every timer of the pool.
it.layer(layer, { excludeTestServices: true })("ClusterRetention", (it) => {
  describe("for requests to entities", () => {
    it.effect("removes requests answered before the window and keeps open and recent ones", () =>
      Effect.gen(function*() {
        const { purge } = yield* retention
        yield* save({ answered: 8 * day })
        const recent = yield* save({ age: 6 * day, answered: 6 * day })
        const answeredLately = yield* save({ answered: 6 * day })
        const open = yield* save({})
        assert.deepStrictEqual(yield* purge(window), { messages: 1, replies: 1, more: false })
        assert.deepStrictEqual(yield* left, { ids: sorted(recent, answeredLately, open), replies: 2 })
      }))

    it.effect("removes the chunks, acknowledgements and interrupts of a request with it", () =>
      Effect.gen(function*() {
        const { purge } = yield* retention
        const storage = yield* Storage
        const saved = yield* save({})
        const part = chunk(saved, 0)
        yield* storage.saveReply(part)
        yield* storage.saveEnvelope(acknowledgement(saved, part))
        yield* storage.saveEnvelope(interrupt(saved))
        yield* storage.saveReply(answer(saved, "done", 8 * day))
        assert.deepStrictEqual(yield* purge(window), { messages: 3, replies: 2, more: false })
        assert.deepStrictEqual(yield* left, { ids: [], replies: 0 })
      }))

    it.effect("stops at its limit, says so, and continues at the next run", () =>
      Effect.gen(function*() {
        const { purge } = yield* retention
        for (let n = 0; n < 7; n++) yield* save({ answered: 8 * day })
        const options = { ...window, batch: 2, maxBatches: 3 }
        assert.deepStrictEqual(yield* purge(options), { messages: 4, replies: 4, more: true })
        assert.deepStrictEqual(yield* purge(options), { messages: 3, replies: 3, more: false })
        assert.deepStrictEqual(yield* purge(options), { messages: 0, replies: 0, more: false })
      }))

    it.effect("leaves a locked row for the next run", () =>
      Effect.gen(function*() {
        const { purge } = yield* retention
        const sql = yield* SqlClient.SqlClient
        const held = yield* save({ answered: 8 * day })
        yield* save({ answered: 8 * day })
        const other = yield* sql.reserve
        yield* other.executeRaw("begin", [])
        yield* other.executeRaw(`select id from cluster_messages where id = ${idOf(held)} for update`, [])
        assert.deepStrictEqual(yield* purge(window), { messages: 1, replies: 1, more: false })
        yield* other.executeRaw("rollback", [])
        assert.deepStrictEqual((yield* left).ids, [idOf(held)])
      }))

    it.effect("finds the old rows through the primary key", () =>
      Effect.gen(function*() {
        yield* start
        const sql = yield* SqlClient.SqlClient
        yield* sql`
          insert into cluster_messages (id, shard_id, entity_type, entity_id, kind, tag, payload, headers, processed, request_id)
          select n, 'default:1', 'Block', n, 0, 'book', '{}', '{}', true, n from generate_series(1, 20000) n`
        yield* sql`analyze cluster_messages`
        const plan = yield* sql<{ "QUERY PLAN": string }>`
          explain (costs off) select id from cluster_messages m
          where m.id < ${
          nextId(7 * day)
        }::text::bigint and m.id > 0 and m.kind = 0 and m.processed order by m.id limit 500`
        assert.include(plan.map((line) => line["QUERY PLAN"]).join("\n"), "cluster_messages_pkey")
      }))
  })

  describe("for workflow executions", () => {
    it.effect("removes a finished execution completely, its steps before its run", () =>
      Effect.gen(function*() {
        const { purge } = yield* retention
        const first = yield* save({ ...run("done"), answered: 8 * day }, { _tag: "Complete" })
        yield* save(step("done", "a/1"))
        yield* save(step("done", "b/1"))
        const partly = yield* purge({ ...window, batch: 1, maxBatches: 2 })
        assert.deepStrictEqual(partly, { messages: 2, replies: 2, more: true })
        assert.deepStrictEqual((yield* left).ids, [idOf(first)])
        assert.deepStrictEqual(yield* purge(window), { messages: 1, replies: 1, more: false })
      }))

    it.effect("keeps every step of an execution that is open, suspended or was answered recently", () =>
      Effect.gen(function*() {
        const { purge } = yield* retention
        const kept = [
          yield* save(run("open")),
          yield* save(step("open", "a/1")),
          yield* save({ ...run("late"), answered: day }, { _tag: "Complete" }),
          yield* save(step("late", "a/1")),
          yield* save({ ...run("asleep"), answered: 9 * day }, { _tag: "Suspended" }),
          yield* save(step("asleep", "a/1"))
        ]
        assert.deepStrictEqual(yield* purge(window), { messages: 0, replies: 0, more: false })
        assert.deepStrictEqual((yield* left).ids, sorted(...kept))
      }))

    it.effect("keeps the steps of an open execution whose key is stored as a hash", () =>
      Effect.gen(function*() {
        const { purge } = yield* retention
        const long = { entityType: `Workflow/${"o".repeat(130)}`, entityId: "e".repeat(200) }
        const kept = [yield* save({ ...run(""), ...long }), yield* save({ ...step("", "a/1"), ...long })]
        assert.deepStrictEqual(yield* purge(window), { messages: 0, replies: 0, more: false })
        assert.deepStrictEqual((yield* left).ids, sorted(...kept))
      }))
  })
})

// With the real engine, because it defines the suspended reply and the key of the parent.
const Child = Workflow.make("Child", {
  payload: { id: Schema.String },
  success: Schema.String,
  idempotencyKey: ({ id }) => id
})
const Parent = Workflow.make("Parent", {
  payload: { id: Schema.String },
  success: Schema.String,
  idempotencyKey: ({ id }) => id
})
const Go = DurableDeferred.make("go", { success: Schema.String })
const children: Array<string> = []
const Families = Layer.mergeAll(
  Child.toLayer(({ id }) => Effect.sync(() => `child ${children.push(id)}`)),
  Parent.toLayer(({ id }) =>
    Effect.gen(function*() {
      const child = yield* Child.execute({ id })
      return `${child}, ${yield* DurableDeferred.await(Go)}`
    })
  )
)

const engineOn = (url: string) =>
  aProcess(url, Families).pipe(
    Layer.provideMerge(ClusterRetention.layer),
    Layer.provideMerge(PgClient.layer({ url: Redacted.make(url), maxConnections: 2 }))
  )

/** Removes everything that was answered before this millisecond. */
const cleanUpAll = Effect.gen(function*() {
  const now = Date.now()
  yield* until(Effect.sync(() => Date.now() > now ? Option.some(true) : Option.none()))
  return yield* (yield* ClusterRetention).purge({ window: 0 })
})

it.live("the retention keeps a suspended execution with its finished child, and removes both when it is done", () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    yield* Effect.gen(function*() {
      const execution = yield* Parent.execute({ id: "1" }, { discard: true })
      yield* until(Effect.map(Parent.poll(execution), Option.filter((result) => result._tag === "Suspended")))
      yield* until(Effect.sync(() => Option.fromUndefinedOr(children[0])))
      // The parent replays once more when its child has finished, and is suspended again at the signal.
      const before = yield* until(
        Effect.map(Effect.orDie(left), Option.liftPredicate((rows) => rows.replies === rows.ids.length))
      )
      yield* cleanUpAll
      const token = DurableDeferred.tokenFromExecutionId(Go, { workflow: Parent, executionId: execution })
      assert.isAtLeast(before.ids.length, 2)
      yield* DurableDeferred.succeed(Go, { token, value: "gone" })
      assert.strictEqual(yield* Parent.execute({ id: "1" }), "child 1, gone")
      assert.deepStrictEqual(children, ["1"], "the child was not run again")
      assert.strictEqual(yield* Parent.execute({ id: "1" }), "child 1, gone")
      yield* until(
        Effect.map(
          Effect.orDie(Effect.andThen(cleanUpAll, left)),
          Option.liftPredicate((rows) => rows.ids.length === 0)
        )
      )
    }).pipe(Effect.provide(engineOn(url)))
  }))
