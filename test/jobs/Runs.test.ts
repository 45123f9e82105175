import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { Jobs } from "../../src/domain/platform/jobs/Jobs.ts"
import { defineTask, GiveUp, RetryIn, type Task } from "../../src/domain/platform/tasks/Task.ts"
import { countOf, enqueue, queueLayer, rowOf, run } from "./Queue.ts"

const cyclic: { self?: object } = {}
cyclic.self = cyclic

const unstorable = "The task's output is not JSON that can be stored."
const doesNothing = () => Effect.void

/** A title, a handler, and the status, attempts, error and output of its job. */
const outcomes: ReadonlyArray<
  readonly [string, Task["handler"], readonly ["succeeded" | "failed", string | null, unknown]]
> = [
  ["stores the output of an effect", ({ input }) => Effect.succeed({ output: input }), ["succeeded", null, { a: 1 }]],
  ["stores the output of a promise", async ({ input }) => ({ output: [input] }), ["succeeded", null, [{ a: 1 }]]],
  ["stores null for a handler without output", doesNothing, ["succeeded", null, null]],
  ["fails with a handler's error", () => Effect.fail("no such parcel"), ["failed", "no such parcel", null]],
  ["fails with an error that has NUL in it", () => Effect.fail("a\0b"), ["failed", "ab", null]],
  ["fails with a handler's defect", () => Effect.die(new Error("a mistake")), ["failed", "a mistake", null]],
  ["fails when a handler throws", () => {
    throw new Error("before anything")
  }, ["failed", "before anything", null]],
  ["fails when a promise is rejected", () => Promise.reject(new Error("rejected")), ["failed", "rejected", null]],
  ["fails when a handler takes too long", () => Effect.never, ["failed", "The task took longer than 20 ms.", null]],
  ["fails without another try when a handler gives up", () => Effect.fail(new GiveUp("the address is gone")), [
    "failed",
    "the address is gone",
    null
  ]],
  ["fails when the output is cyclic", () => Effect.succeed({ output: cyclic }), ["failed", unstorable, null]],
  ["fails when the output is a bigint", () => Effect.succeed({ output: 1n }), ["failed", unstorable, null]],
  ["fails when the output has NUL in it", () => Effect.succeed({ output: "a\0b" }), ["failed", unstorable, null]]
]

const key = () => "the task's"

const tasks = [
  ...outcomes.map(([slug, handler]) => {
    const retries = slug.includes("gives up") ? { retries: { attempts: 5 } } : {}
    return defineTask({ slug, handler, ...retries, ...slug.includes("too long") ? { timeLimitMs: 20 } : {} })
  }),
  defineTask({ slug: "test/echo", handler: ({ input }) => Effect.succeed({ output: input }) }),
  defineTask({ slug: "test/pauses", handler: () => Effect.fail(new RetryIn(40_000, "the store asks for a pause")) }),
  defineTask({ slug: "test/interrupts", handler: () => Effect.interrupt }),
  defineTask({ slug: "test/refused", handler: () => Effect.succeed({ output: "refused" }) }),
  defineTask({ slug: "test/own", queue: "own", retries: { attempts: 3 }, concurrency: { key }, handler: doesNothing }),
  defineTask({
    slug: "test/actor",
    handler: ({ ctx, input, job }) =>
      Effect.map(CurrentActor, ({ organizationId, permissions, role, userId }) => ({
        output: { input, organizationId, permissions, role, userId, ctx: ctx.organizationId, job }
      }))
  })
]

const ended = Effect.fnUntraced(function*(id: string) {
  const { attempts, error, output, status } = yield* rowOf(id)
  return [status, attempts, error, output]
})

it.layer(queueLayer({ tasks }), { excludeTestServices: true })("a job", (it) => {
  for (const [task, , [status, error, output]] of outcomes) {
    it.effect(`a run ${task}`, () =>
      Effect.gen(function*() {
        const id = yield* enqueue(task, { a: 1 })
        yield* run()
        assert.deepStrictEqual(yield* ended(id), [status, 1, error, output])
        assert.isTrue((yield* rowOf(id)).completed)
      }))
  }

  it.effect("a job whose handler asks for a pause waits as long, and the try does not count", () =>
    Effect.gen(function*() {
      const id = yield* enqueue("test/pauses")
      assert.strictEqual((yield* run()).failed, 0)
      assert.deepStrictEqual(yield* ended(id), ["pending", 0, "the store asks for a pause", null])
      const sql = yield* SqlClient.SqlClient
      const later =
        yield* sql`select 1 from commerce_jobs where id = ${id}::uuid and wait_until > now() + interval '30 s'`
      assert.strictEqual(later.length, 1)
    }))

  it.effect("a job of an unknown task fails without a try", () =>
    Effect.gen(function*() {
      const id = yield* enqueue("test/unknown")
      assert.strictEqual((yield* run()).failed, 1)
      assert.deepStrictEqual(yield* ended(id), ["failed", 0, "Unknown task slug: test/unknown", null])
      assert.isTrue((yield* rowOf(id)).completed)
    }))

  it.effect("a job whose handler interrupts itself fails", () =>
    Effect.gen(function*() {
      const id = yield* enqueue("test/interrupts")
      assert.strictEqual((yield* run()).failed, 1)
      assert.strictEqual((yield* rowOf(id)).status, "failed")
    }))

  it.effect("a result that the database refuses does not keep others from being written", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`alter table commerce_jobs add constraint refusing check (output <> '"refused"')`
      const [refused, echo] = [yield* enqueue("test/refused"), yield* enqueue("test/echo", { b: 2 })]
      yield* run()
      assert.deepStrictEqual(yield* ended(echo), ["succeeded", 1, null, { b: 2 }])
      const error = "What the task returned could not be stored."
      assert.deepStrictEqual(yield* ended(refused), ["failed", 1, error, null])
    }))

  it.effect("a handler acts as the service in the job's organization and gets its input and try", () =>
    Effect.gen(function*() {
      const id = yield* enqueue("test/actor", { a: 1 }, { organizationId: " org_other ", maxAttempts: 3 })
      yield* run()
      assert.deepStrictEqual((yield* rowOf(id)).output, {
        input: { a: 1 },
        organizationId: "org_other",
        permissions: ["*:*"],
        role: "system",
        userId: "system:internal",
        ctx: "org_other",
        job: { id, attemptNumber: 1, maxAttempts: 3 }
      })
    }))

  it.effect("a job is not there when the transaction it was enqueued in is rolled back", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const before = yield* countOf("commerce_jobs")
      yield* Effect.exit(sql.withTransaction(Effect.andThen(enqueue("test/echo"), Effect.die("no"))))
      assert.strictEqual(yield* countOf("commerce_jobs"), before)
      const id = yield* sql.withTransaction(enqueue("test/echo"))
      assert.strictEqual((yield* rowOf(id)).status, "pending")
      yield* run()
    }))

  it.effect("a run leaves the jobs of other queues alone", () =>
    Effect.gen(function*() {
      yield* enqueue("test/echo", {}, { queue: "other" })
      assert.strictEqual((yield* run()).processed, 0)
      assert.strictEqual((yield* run(10, "other")).processed, 1)
    }))

  it.effect("an enqueue takes queue, tries and key from the task, unless the caller sets them", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const mine = { queue: "mine", maxAttempts: 2, concurrencyKey: "mine" }
      for (
        const [task, options, expected] of [
          ["test/echo", {}, ["default", 1, null]],
          ["test/own", {}, ["own", 3, "the task's"]],
          ["test/own", mine, ["mine", 2, "mine"]]
        ] as const
      ) {
        const id = yield* enqueue(task, {}, options)
        const [row] = yield* sql`delete from commerce_jobs where id = ${id}::uuid and status = 'pending'
          and attempts = 0 returning queue, max_attempts, concurrency_key`
        assert.deepStrictEqual(Object.values(row ?? {}), [...expected])
      }
    }))

  it.effect("an invalid enqueue is refused, alone and among others", () =>
    Effect.gen(function*() {
      const jobs = yield* Jobs
      const before = yield* countOf("commerce_jobs")
      const good = { task: "test/echo", input: {}, options: { organizationId: "o" } }
      for (
        const options of [
          { organizationId: "" },
          { organizationId: " \t" },
          { organizationId: "o", maxAttempts: 0 },
          { organizationId: "o", maxAttempts: 1.5 },
          { organizationId: "o", delayMs: -1 },
          { organizationId: "o", delayMs: Number.NaN },
          { organizationId: "o", queue: "" },
          { organizationId: "o", concurrencyKey: "x".repeat(256) }
        ]
      ) {
        const error = yield* Effect.flip(jobs.enqueue("test/echo", {}, options))
        assert.strictEqual(error.error.code, "VALIDATION_FAILED", JSON.stringify(options))
        yield* Effect.flip(jobs.enqueueAll([good, { ...good, options }]))
      }
      assert.strictEqual((yield* Effect.flip(enqueue("test/echo", { a: new Date() }))).error.code, "VALIDATION_FAILED")
      assert.strictEqual(yield* countOf("commerce_jobs"), before)
    }))

  it.effect("jobs/reap-stale takes jobs from dead workers and returns how many", () =>
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
      assert.deepStrictEqual(yield* ended(own), ["succeeded", 1, null, { reapedCount: 2 }])
      const rows = yield* Effect.forEach(ids, rowOf)
      assert.deepStrictEqual(rows.map(({ status }) => status), ["failed", "pending", "processing"])
      yield* sql`delete from commerce_jobs`
    }))

  it.effect("jobs/purge-ended removes all jobs that ended long ago", () =>
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
      assert.deepStrictEqual(yield* ended(own), ["succeeded", 1, null, { purgedCount: 1_502 }])
      const left = yield* sql<
        { task: string }
      >`select task_slug as task from commerce_jobs where queue = 'old' order by 1`
      assert.deepStrictEqual(left.map(({ task }) => task), ["failed 29", "pending 50", "succeeded 6"])
      yield* sql`delete from commerce_jobs`
    }))

  it.effect("many jobs enqueued at once get their ids in their order", () =>
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
