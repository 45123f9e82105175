import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { JobId } from "../../src/domain/platform/ids/Id.ts"
import type { RunCounts } from "../../src/domain/platform/jobs/Job.ts"
import { Jobs } from "../../src/domain/platform/jobs/Jobs.ts"
import type { EngineJob, EngineRegistration, JobEngine } from "../../src/domain/platform/tasks/JobSettings.ts"
import { defineTask } from "../../src/domain/platform/tasks/Task.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import { engineDriverLayer } from "../../src/layers/jobs/JobRunner.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { pushEngine } from "../support/PushEngine.ts"
import { api, live, testAppLayer } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"
import { countOf, enqueue, queueLayer, run } from "./Queue.ts"

const push = pushEngine()
const tasks = [
  defineTask({ slug: "test/echo", handler: ({ input }) => Effect.succeed({ output: input }) }),
  defineTask({ slug: "test/again", retries: { attempts: 2 }, handler: () => Effect.fail("not yet") })
]

layer(testAppLayer({ tasks, jobs: { adapter: push.engine } }), live)(
  "an engine with a separate runtime",
  (it) => {
    it.effect("a push engine gets the tasks and the jobs, and runs them with the service's handlers", () =>
      Effect.gen(function*() {
        const jobs = yield* Jobs
        assert.includeMembers([...push.tasks()], ["test/echo", "test/again", "jobs/purge-ended"])
        const options = { organizationId: "org_default" }
        yield* jobs.enqueue("test/echo", { a: 1 }, options)
        yield* jobs.enqueue("test/again", {}, options)
        yield* jobs.enqueue("test/unknown", {}, options)
        const outcomes = (yield* Effect.promise(push.work)).filter((one) => !JSON.stringify(one).includes("Count"))
        assert.deepStrictEqual(outcomes, [
          { status: "succeeded", output: { a: 1 } },
          { status: "retry", error: "not yet", delayMs: 1_000 },
          { status: "failed", error: "Unknown task slug: test/unknown" }
        ])
        assert.deepStrictEqual(yield* onDatabase((sql) => sql`select id from commerce_jobs`), [])
      }))

    it.effect("a push engine is not run by a request", () =>
      Effect.gen(function*() {
        refused(yield* api("GET", "/api/jobs/run"), 409, "CONFLICT")
        refused(yield* api("POST", "/api/jobs/run"), 409, "CONFLICT")
      }))
  }
)

/** An engine in memory that the service drives, and every poll of its queues. */
const pullEngine = () => {
  const waiting: Array<EngineJob & { readonly id: JobId }> = []
  const looks: Array<string> = []
  const [recorded, state] = [new Array<EngineRegistration>(), { away: false, looking: 0, most: 0 }]

  const work = async (queue: string, limit: number): Promise<RunCounts> => {
    const counts = { processed: 0, failed: 0, retried: 0, released: 0, reaped: 0 }
    const due = waiting.filter((job) => job.queue === queue).slice(0, limit)
    for (const job of due) {
      waiting.splice(waiting.indexOf(job), 1)
      const outcome = await recorded[0]?.run({ ...job, attempt: 1 })
      if (outcome?.status === "succeeded") counts.processed++
      if (outcome?.status === "failed") counts.failed++
      if (outcome?.status === "retry") counts.retried++
    }
    return counts
  }
  const engine: JobEngine = {
    enqueue: async (jobs) => {
      const made = jobs.map((job, n) => ({ ...job, id: JobId.make(`${waiting.length + n}`) }))
      waiting.push(...made)
      return made.map(({ id }) => id)
    },
    register: (given) => {
      recorded.push(given)
    },
    execution: {
      mode: "pull",
      run: async ({ limit, queue }) => {
        looks.push(queue)
        if (state.away) throw new Error("The engine is away.")
        state.most = Math.max(state.most, ++state.looking)
        return await work(queue, limit).finally(() => state.looking--)
      }
    }
  }
  return { engine, looks, state, recorded }
}

const pull = pullEngine()
const mail = defineTask({ slug: "test/mail", queue: "mail", handler: () => Effect.void })
const pulled = (autorun: boolean) =>
  engineDriverLayer.pipe(
    Layer.provideMerge(
      queueLayer({ tasks: [...tasks, mail], engine: pull.engine, settings: { autorun, pollMs: 1_000 } })
    )
  )

it.layer(pulled(true))("an engine that the service drives", (it) => {
  const looked = (times: number) =>
    Effect.promise(() => waitFor("both queues to be looked at", () => pull.looks.length >= 2 * times))

  it.effect("a pull engine has its queues polled every interval, one after the other, and does due jobs", () =>
    Effect.gen(function*() {
      assert.includeMembers([...(pull.recorded[0]?.tasks ?? [])].map(({ slug }) => slug), [
        "test/echo",
        "jobs/purge-ended"
      ])
      yield* enqueue("test/echo", { a: 1 })
      yield* enqueue("test/mail")
      assert.deepStrictEqual(pull.looks, [])
      yield* TestClock.adjust(1_000)
      yield* looked(1)
      assert.deepStrictEqual(pull.looks, ["default", "mail"])
      assert.strictEqual(yield* countOf("commerce_jobs"), 0)
      // An engine that is away is asked again.
      pull.state.away = true
      yield* Effect.repeat(TestClock.adjust(1_000), { until: () => pull.looks.length >= 4 })
      pull.state.away = false
      yield* Effect.repeat(TestClock.adjust(1_000), { until: () => pull.looks.length >= 6 })
      assert.deepStrictEqual(pull.looks.slice(0, 6), ["default", "mail", "default", "mail", "default", "mail"])
      assert.strictEqual(pull.state.most, 1)
    }))

  it.effect("a pull engine runs a queue on request, too, and returns its counts", () =>
    Effect.gen(function*() {
      yield* enqueue("test/echo", {}, { queue: "asked" })
      yield* enqueue("test/again", {}, { queue: "asked" })
      yield* enqueue("test/unknown", {}, { queue: "asked" })
      const counts = { processed: 1, failed: 1, retried: 1, released: 0, reaped: 0 }
      assert.deepStrictEqual(yield* run(10, "asked"), counts)
      assert.deepStrictEqual(yield* run(10, "asked"), { ...counts, processed: 0, failed: 0, retried: 0 })
    }))
})

const read = (deployment: DeploymentConfig, variables: Record<string, string> = {}) =>
  Effect.provide(readSettings(deployment), ConfigProvider.layer(ConfigProvider.fromEnv({ env: variables })))

describe("the drivers of the queue", () => {
  it.effect("the processes drive the queue unless the deployment turns it off or has a push engine", () =>
    Effect.gen(function*() {
      const autorun = (deployment: DeploymentConfig, variables = {}) =>
        Effect.map(read(deployment, variables), ({ jobs }) => jobs.autorun)
      assert.isTrue(yield* autorun({}))
      assert.isFalse(yield* autorun({ jobs: { autorun: { enabled: false } } }))
      assert.isFalse(yield* autorun({}, { STOA_JOBS_AUTORUN: "false" }))
      assert.isTrue(yield* autorun({ jobs: { autorun: { enabled: false } } }, { STOA_JOBS_AUTORUN: "true" }))
      assert.isFalse(yield* autorun({ jobs: { adapter: push.engine } }))
    }))

  it.effect("two drivers of the queue end the start with one line, and so do invalid numbers", () =>
    Effect.gen(function*() {
      const message = (deployment: DeploymentConfig, variables = {}) =>
        Effect.map(Effect.flip(read(deployment, variables)), (error) => error.message)
      const both =
        "jobs.autorun.enabled=\"true\" is not allowed: expected false: the push engine of jobs.adapter drives " +
        "the jobs itself."
      assert.strictEqual(yield* message({ jobs: { adapter: push.engine, autorun: { enabled: true } } }), both)
      assert.strictEqual(yield* message({ jobs: { adapter: push.engine } }, { STOA_JOBS_AUTORUN: "true" }), both)
      assert.match(yield* message({ jobs: { slots: 0 } }), /^jobs\.slots="0" is not allowed/)
      assert.match(
        yield* message({}, { JOB_REAP_THRESHOLD_MS: "soon" }),
        /^JOB_REAP_THRESHOLD_MS="soon" is not allowed/
      )
    }))
})
