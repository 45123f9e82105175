import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../../src/domain/access/Actor.ts"
import { Jobs } from "../../src/domain/jobs/Jobs.ts"
import { defineTask, GiveUp } from "../../src/domain/jobs/Task.ts"
import { countOf, enqueue, queueLayer, rowOf, run, timeHasCome } from "./Queue.ts"

const cyclic: { self?: object } = {}
cyclic.self = cyclic

const tasks = [
  defineTask({ slug: "test/echo", handler: ({ input }) => Effect.succeed({ output: input }) }),
  defineTask({ slug: "test/promise", handler: async ({ input }) => ({ output: { told: input["text"] } }) }),
  defineTask({ slug: "test/silent", handler: () => Effect.void }),
  defineTask({ slug: "test/fails", handler: () => Effect.fail("no such parcel") }),
  defineTask({ slug: "test/dies", handler: () => Effect.die(new Error("a mistake")) }),
  defineTask({
    slug: "test/throws",
    handler: () => {
      throw new Error("before anything")
    }
  }),
  defineTask({ slug: "test/rejects", handler: () => Promise.reject(new Error("rejected")) }),
  defineTask({ slug: "test/interrupts", handler: () => Effect.interrupt }),
  defineTask({ slug: "test/hangs", timeLimitMs: 20, handler: () => Effect.never }),
  defineTask({ slug: "test/cyclic", handler: () => Effect.succeed({ output: cyclic }) }),
  defineTask({ slug: "test/nul", handler: () => Effect.succeed({ output: "a\0b" }) }),
  defineTask({ slug: "test/refused", handler: () => Effect.succeed({ output: "refused" }) }),
  defineTask({
    slug: "test/gives-up",
    retries: { attempts: 5 },
    handler: () => Effect.fail(new GiveUp("the address is gone"))
  }),
  defineTask({
    slug: "test/actor",
    handler: ({ ctx, job }) =>
      Effect.map(CurrentActor, ({ organizationId, userId }) => ({
        output: { organizationId, userId, ctx: ctx.organizationId, attempt: job.attemptNumber, of: job.maxAttempts }
      }))
  })
]

const ended = (
  of: { status: string; attempts: number; error: string | null; output: unknown }
) => [of.status, of.attempts, of.error, of.output]

it.layer(queueLayer({ tasks }), { excludeTestServices: true })("a job", (it) => {
  for (
    const [what, task, expected] of [
      ["that succeeds keeps what its task returned", "test/echo", ["succeeded", 1, null, { a: 1 }]],
      ["may be done by a promise", "test/promise", ["succeeded", 1, null, {}]],
      ["need not return anything", "test/silent", ["succeeded", 1, null, null]],
      ["that fails keeps the reason", "test/fails", ["failed", 1, "no such parcel", null]],
      ["whose handler dies has failed", "test/dies", ["failed", 1, "a mistake", null]],
      ["whose handler throws has failed", "test/throws", ["failed", 1, "before anything", null]],
      ["whose promise is rejected has failed", "test/rejects", ["failed", 1, "rejected", null]],
      ["whose handler takes too long has failed", "test/hangs", [
        "failed",
        1,
        "The task took longer than 20 ms.",
        null
      ]],
      ["that gives up is not tried again", "test/gives-up", ["failed", 1, "the address is gone", null]],
      [
        "whose output is no JSON has failed",
        "test/cyclic",
        ["failed", 1, "The task's output is not JSON that can be stored.", null]
      ],
      [
        "whose output no database can hold has failed",
        "test/nul",
        ["failed", 1, "The task's output is not JSON that can be stored.", null]
      ],
      ["of a task that nobody knows has failed without a try", "test/unknown", [
        "failed",
        0,
        "Unknown task slug: test/unknown",
        null
      ]]
    ] as const
  ) {
    it.effect(what, () =>
      Effect.gen(function*() {
        const id = yield* enqueue(task, { a: 1 })
        yield* run()
        const row = yield* rowOf(id)
        assert.deepStrictEqual(ended(row), [...expected])
        assert.isTrue(row.completed)
      }))
  }

  it.effect("whose handler interrupts itself has failed", () =>
    Effect.gen(function*() {
      const id = yield* enqueue("test/interrupts")
      assert.strictEqual((yield* run()).failed, 1)
      assert.strictEqual((yield* rowOf(id)).status, "failed")
    }))

  it.effect("whose end the database refuses does not keep the others from theirs", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`alter table commerce_jobs add constraint refusing check (output <> '"refused"')`
      const refused = yield* enqueue("test/refused")
      const echo = yield* enqueue("test/echo", { b: 2 })
      yield* run()
      assert.deepStrictEqual(ended(yield* rowOf(echo)), ["succeeded", 1, null, { b: 2 }])
      assert.deepStrictEqual(ended(yield* rowOf(refused)), [
        "failed",
        1,
        "What the task returned could not be stored.",
        null
      ])
    }))

  it.effect("is done by the service itself in the job's organization", () =>
    Effect.gen(function*() {
      const id = yield* enqueue("test/actor", {}, { organizationId: " org_other ", maxAttempts: 3 })
      yield* run()
      assert.deepStrictEqual((yield* rowOf(id)).output, {
        organizationId: "org_other",
        userId: "system:internal",
        ctx: "org_other",
        attempt: 1,
        of: 3
      })
    }))

  it.effect("is not there when the transaction it was enqueued in is rolled back", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const before = yield* countOf("commerce_jobs")
      yield* Effect.exit(sql.withTransaction(Effect.andThen(enqueue("test/echo"), Effect.die("no"))))
      assert.strictEqual(yield* countOf("commerce_jobs"), before)
      const id = yield* sql.withTransaction(enqueue("test/echo"))
      assert.strictEqual((yield* rowOf(id)).status, "pending")
      yield* run()
    }))

  it.effect("that is delayed waits for its time", () =>
    Effect.gen(function*() {
      const id = yield* enqueue("test/echo", {}, { delayMs: 60_000 })
      assert.strictEqual((yield* run()).processed, 0)
      const row = yield* rowOf(id)
      assert.deepStrictEqual([row.status, Math.round(row.wait ?? 0)], ["pending", 60])
      yield* timeHasCome(id)
      assert.strictEqual((yield* run()).processed, 1)
    }))

  it.effect("of another queue is left alone", () =>
    Effect.gen(function*() {
      yield* enqueue("test/echo", {}, { queue: "other" })
      assert.strictEqual((yield* run()).processed, 0)
      assert.strictEqual((yield* run(10, "other")).processed, 1)
    }))

  it.effect("that makes no sense is refused, alone and among others", () =>
    Effect.gen(function*() {
      const jobs = yield* Jobs
      const before = yield* countOf("commerce_jobs")
      for (
        const options of [
          { organizationId: " " },
          { organizationId: "o", maxAttempts: 0 },
          { organizationId: "o", maxAttempts: 1.5 },
          { organizationId: "o", delayMs: -1 },
          { organizationId: "o", delayMs: Number.NaN },
          { organizationId: "o", queue: "" },
          { organizationId: "o", concurrencyKey: "x".repeat(256) }
        ]
      ) {
        const error = yield* Effect.flip(jobs.enqueue("test/echo", {}, options))
        assert.strictEqual(error._tag, "ValidationFailed", JSON.stringify(options))
        const good = { task: "test/echo", input: {}, options: { organizationId: "o" } }
        yield* Effect.flip(jobs.enqueueAll([good, { task: "test/echo", input: {}, options }]))
      }
      assert.strictEqual((yield* Effect.flip(enqueue("test/echo", { a: new Date() })))._tag, "ValidationFailed")
      assert.strictEqual(yield* countOf("commerce_jobs"), before)
    }))

  it.effect("of many at once has its id in their order", () =>
    Effect.gen(function*() {
      const jobs = yield* Jobs
      const all = Array.from({ length: 50 }, (_, n) => ({
        task: "test/echo",
        input: { n },
        options: { organizationId: "org_default" }
      }))
      const ids = yield* jobs.enqueueAll(all)
      assert.strictEqual((yield* run(100)).processed, 50)
      for (const [n, id] of ids.entries()) assert.deepStrictEqual((yield* rowOf(id)).output, { n })
      assert.deepStrictEqual(yield* jobs.enqueueAll([]), [])
    }))
})
