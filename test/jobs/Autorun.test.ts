import { assert, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { Jobs } from "../../src/domain/platform/jobs/Jobs.ts"
import { defineTask } from "../../src/domain/platform/tasks/Task.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { live, testAppLayer } from "../support/TestApp.ts"
import { enqueue, until } from "./Queue.ts"

let ran: Array<unknown> = []
let tries = 0

const tasks = [
  defineTask({
    slug: "test/note",
    handler: ({ input }) =>
      Effect.sync(() => {
        ran.push(input["n"])
      })
  }),
  defineTask({
    slug: "test/parent",
    handler: () =>
      Effect.map(Effect.serviceOption(WorkflowEngine.WorkflowInstance), (parent) => {
        ran.push(["a child of its loop", Option.isSome(parent)])
      })
  }),
  defineTask({ slug: "test/mail", queue: "mail", handler: () => Effect.sync(() => ({ output: ran.push("mail") })) }),
  defineTask({
    slug: "test/second-time",
    retries: { attempts: 3, backoff: { type: "fixed", delay: 30 } },
    handler: () => ++tries < 3 ? Effect.fail("not yet") : Effect.succeed({ output: tries })
  })
]

const withQueue = layer(testAppLayer({ tasks, jobs: { autorun: { intervalMs: 60_000 } } }), live)

// The poll comes once a minute, so a notification or the time of a job has to start what is done here.
withQueue("a service that drives its queues itself", (it) => {
  it.effect("a service does a job as soon as it is enqueued, in any queue", () =>
    Effect.gen(function*() {
      ran = []
      yield* enqueue("test/note", { n: 1 })
      yield* until("the job", () => ran.includes(1))
      yield* enqueue("test/mail")
      yield* until("the job of the task's queue", () => ran.includes("mail"))
      yield* enqueue("test/note", { n: 2 }, { queue: "not named before" })
      yield* until("the job of a queue that was not named before", () => ran.includes(2))
    }))

  it.effect("workflows that a job starts are no children of the loop that does it", () =>
    Effect.gen(function*() {
      ran = []
      yield* enqueue("test/parent")
      yield* until("the job", () => ran.length > 0)
      assert.deepStrictEqual(ran, [["a child of its loop", false]])
    }))

  it.effect("a service does a job that another process enqueues", () =>
    Effect.gen(function*() {
      ran = []
      yield* onDatabase((sql) =>
        sql`with made as (insert into commerce_jobs (id, organization_id, task_slug, input)
            values (gen_random_uuid(), 'org_default', 'test/note', '{"n": 3}') returning queue)
          select pg_notify('stoa_jobs', queue) from made`
      )
      yield* until("the job", () => ran.includes(3))
    }))

  it.effect("a service does a delayed job when its time has come, and a failed one again after its wait", () =>
    Effect.gen(function*() {
      ran = []
      yield* enqueue("test/note", { n: 4 }, { delayMs: 300 })
      yield* enqueue("test/second-time")
      yield* until("the delayed job", () => ran.includes(4))
      yield* until("the third try", () => tries === 3)
    }))

  it.effect("a service does ten thousand jobs, each once", () =>
    Effect.gen(function*() {
      ran = []
      const jobs = yield* Jobs
      const all = Array.from({ length: 10_000 }, (_, n) => ({
        task: "test/note",
        input: { n },
        options: { organizationId: `org_${n % 7}` }
      }))
      yield* jobs.enqueueAll(all)
      yield* until("all of them", () => ran.length >= 10_000)
      assert.strictEqual(new Set(ran).size, 10_000)
      const left = yield* onDatabase((sql) =>
        sql`select id from commerce_jobs where status <> 'succeeded' and task_slug = 'test/note'`
      )
      assert.isAtMost(left.length, 4_000)
      assert.strictEqual(ran.length, 10_000)
    }))
})
