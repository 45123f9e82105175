import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../../src/domain/access/Actor.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { Jobs } from "../../src/domain/jobs/Jobs.ts"
import { defineTask, GiveUp } from "../../src/domain/jobs/Task.ts"
import { countOf, enqueue, queueLayer, rowOf, run } from "./Queue.ts"

const cyclic: { self?: object } = {}
cyclic.self = cyclic

const tasks = [
  defineTask({ slug: "test/echo", handler: ({ input }) => Effect.succeed({ output: input }) }),
  defineTask({ slug: "test/promise", handler: async ({ input }) => ({ output: { recorded: input["text"] } }) }),
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

  it.effect("of the queue's own takes others from dead workers and tells how many", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // Two of a dead worker, one with a try left, and one of a worker that lives.
      const insert = (lease: string, tries: number) =>
        sql<{ id: string }>`insert into commerce_jobs (id, organization_id, queue, task_slug, status, attempts,
            max_attempts, slot, lease_token, lease_until)
          values (${newId()}, 'org_default', 'reaped', 'test/echo', 'processing', 1, ${tries}::int4, 'dead',
            gen_random_uuid(), now() + ${lease}::interval) returning id`
      const ids: Array<string> = []
      for (const [lease, tries] of [["-1 s", 1], ["-1 s", 2], ["1 min", 2]] as const) {
        for (const { id } of yield* insert(lease, tries)) ids.push(id)
      }
      const own = yield* enqueue("jobs/reap-stale", {}, { queue: "own" })
      // The settings let a run itself look for dead workers once a minute, and the run before this one did.
      yield* run(10, "own")
      assert.deepStrictEqual(ended(yield* rowOf(own)), ["succeeded", 1, null, { reapedCount: 2 }])
      const rows = yield* Effect.forEach(ids, rowOf)
      assert.deepStrictEqual(rows.map(({ status }) => status), ["failed", "pending", "processing"])
      yield* sql`delete from commerce_jobs`
    }))

  it.effect("of the queue's own removes others that ended long ago, however many", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // Ids carry the time of their creation.
      const insert = (status: string, days: number, count = 1) =>
        sql`insert into commerce_jobs (id, organization_id, queue, task_slug, status, completed_at)
          select (lpad(to_hex((extract(epoch from now() - ${days}::int4 * interval '1 day') * 1000)::int8), 12, '0')
              || '7' || lpad(to_hex(n), 3, '0') || '8' || lpad(to_hex(n), 15, '0'))::uuid,
            'org_default', 'old', ${status}::text || ' ' || ${days}::int4, ${status},
            case when ${status} <> 'pending' then now() - ${days}::int4 * interval '1 day' end
          from generate_series(1, ${count}::int4) n`
      yield* insert("succeeded", 40, 1_500)
      for (const days of [8, 6]) yield* insert("succeeded", days)
      for (const days of [31, 29]) yield* insert("failed", days)
      yield* insert("pending", 50)
      const own = yield* enqueue("jobs/purge-ended")
      yield* run()
      assert.deepStrictEqual(ended(yield* rowOf(own)), ["succeeded", 1, null, { purgedCount: 1_502 }])
      const left = yield* sql<
        { task: string }
      >`select task_slug as task from commerce_jobs where queue = 'old' order by 1`
      assert.deepStrictEqual(left.map(({ task }) => task), ["failed 29", "pending 50", "succeeded 6"])
      yield* sql`delete from commerce_jobs`
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
