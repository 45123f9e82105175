import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { defineTask } from "../../src/domain/jobs/Task.ts"
import { JobSchedules } from "../../src/layers/jobs/QueuedJobs.ts"
import { queueLayer } from "./Queue.ts"

const hourly = defineTask({ slug: "test/hourly", schedule: "0 * * * *", handler: () => Effect.void })
const layerOf = queueLayer({ tasks: [hourly] })

/** Another process over the same database. */
const another = Effect.map(
  Layer.build(Layer.fresh(JobSchedules.layer)),
  (context) => Effect.provideContext(Effect.flatMap(JobSchedules, ({ enqueueDue }) => enqueueDue), context)
)

const jobs = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ n: number }>`select count(*)::int4 as n from commerce_jobs
    where task_slug = 'test/hourly' and organization_id = 'org_default' and input = '{}'`
  return row?.n
})

it.layer(layerOf)("a schedule", (it) => {
  it.effect("a schedule becomes one job per tick, by the process that is first", () =>
    Effect.gen(function*() {
      const [a, b] = [yield* another, yield* another]
      yield* a
      yield* b
      assert.strictEqual(yield* jobs, 0, "no tick has passed since the first start")
      yield* TestClock.adjust("1 hour")
      yield* Effect.all([a, b], { concurrency: 2 })
      assert.strictEqual(yield* jobs, 1)
      yield* TestClock.adjust("2 hours")
      yield* Effect.all([a, b], { concurrency: 2 })
      assert.strictEqual(yield* jobs, 3)
      // Both processes died; of the five ticks without them the last one is made up for.
      yield* TestClock.adjust("5 hours")
      const [c, d] = [yield* another, yield* another]
      yield* Effect.all([c, d], { concurrency: 2 })
      assert.strictEqual(yield* jobs, 4)
      yield* Effect.all([a, c, d], { concurrency: 3 })
      assert.strictEqual(yield* jobs, 4)
    }))
})

const wrong = defineTask({ slug: "test/wrong", schedule: "every day", handler: () => Effect.void })

it.layer(queueLayer({ tasks: [wrong] }))("an invalid schedule", (it) => {
  it.effect("an invalid schedule ends with an error that names the task", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.flatMap(JobSchedules, ({ enqueueDue }) => enqueueDue))
      assert.strictEqual(
        error.message,
        "The task 'test/wrong' has the schedule 'every day', which is no cron expression."
      )
    }))
})
