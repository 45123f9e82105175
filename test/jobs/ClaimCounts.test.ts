import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { Jobs } from "../../src/domain/platform/jobs/Jobs.ts"
import { defineTask } from "../../src/domain/platform/tasks/Task.ts"
import { runWorkerSlot } from "../../src/layers/jobs/WorkerSlot.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { enqueue, queueLayer, rowOf } from "./Queue.ts"

const quick = defineTask({ slug: "test/quick", handler: () => Effect.yieldNow })
const second = defineTask({
  slug: "test/second",
  retries: { attempts: 2, backoff: { type: "fixed", delay: 20 } },
  handler: ({ job }) => job.attemptNumber === 1 ? Effect.fail("not yet") : Effect.void
})
const exclusive = defineTask({
  slug: "test/exclusive",
  concurrency: { key: () => "one" },
  handler: () => Effect.yieldNow
})

/** Each slot claims once when it starts. */
const starts = 4

/** Four slots of a process that poll once an hour, and how many claims they make beside this work. */
const withSlots = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    let mine = true
    const slot = () => runWorkerSlot({ queue: "default", slot: newId(), token: newId(), mine: () => mine })
    const slots = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkChild(slot()))
    yield* work
    mine = false
    yield* Effect.forEach(slots, Fiber.join)
  }).pipe(
    statementsOf,
    Effect.map((statements) => statements.filter(([text]) => text.includes("insert into job_keys")).length)
  )

const ended = (id: string) => Effect.repeat(rowOf(id), { until: ({ status }) => status === "succeeded" })
const batchOf = (task: string, count: number) =>
  Effect.gen(function*() {
    const job = { task, input: {}, options: { organizationId: "org_default" } }
    const ids = yield* (yield* Jobs).enqueueAll(Array.from({ length: count }, () => job))
    yield* Effect.forEach(ids, ended)
  })

it.layer(queueLayer({ tasks: [quick, second, exclusive], settings: { pollMs: 3_600_000 } }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("an idle queue with four slots", (it) => {
  it.effect("takes what a batch enqueued with one claim", () =>
    Effect.gen(function*() {
      assert.isAtMost(yield* withSlots(batchOf("test/quick", 20)), starts + 1)
    }))

  it.effect("takes what was enqueued while it had no slot", () =>
    Effect.gen(function*() {
      yield* withSlots(Effect.void)
      const id = yield* enqueue("test/quick")
      assert.isAtMost(yield* withSlots(ended(id)), starts)
    }))

  it.effect("takes a delayed job when its time has come, which the claim before has read", () =>
    Effect.gen(function*() {
      const delayed = Effect.flatMap(enqueue("test/quick", {}, { delayMs: 50 }), ended)
      assert.isAtMost(yield* withSlots(delayed), starts + 2)
    }))

  it.effect("takes a job that failed when its next try is due", () =>
    Effect.gen(function*() {
      assert.isAtMost(yield* withSlots(batchOf("test/second", 1)), starts + 3)
    }))

  it.effect("takes a job whose key the one before has freed", () =>
    Effect.gen(function*() {
      assert.isAtMost(yield* withSlots(batchOf("test/exclusive", 3)), starts + 3)
    }))

  it.effect("ends every job of a mixture that eight enqueue meanwhile, with delays, keys and failures", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tasks = ["test/quick", "test/second", "test/exclusive"]
      const some = (writer: number) =>
        Effect.forEach(
          Array.from({ length: 20 }, (_, n) => n),
          (n) => enqueue(tasks[(writer + n) % 3] ?? "", {}, { delayMs: 7 * ((writer * n) % 5) })
        )
      const open = sql`select 1 from commerce_jobs where status <> 'succeeded' limit 1`
      yield* withSlots(Effect.andThen(
        Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], some, { concurrency: "unbounded" }),
        Effect.repeat(open, { until: (rows) => rows.length === 0 })
      ))
    }))
})
