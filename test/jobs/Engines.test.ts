import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { Jobs } from "../../src/domain/jobs/Jobs.ts"
import { defineTask } from "../../src/domain/jobs/Task.ts"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import type { DeploymentConfig } from "../../src/layers/config/DeploymentConfig.ts"
import { onDatabase, refused } from "../checkout/ShopFloor.ts"
import { pushEngine } from "../support/PushEngine.ts"
import { api, testAppLayer } from "../support/TestApp.ts"

const push = pushEngine()
const tasks = [
  defineTask({ slug: "test/echo", handler: ({ input }) => Effect.succeed({ output: input }) }),
  defineTask({ slug: "test/again", retries: { attempts: 2 }, handler: () => Effect.fail("not yet") })
]

layer(testAppLayer({ tasks, jobs: { adapter: push.engine } }), { excludeTestServices: true, timeout: "60 seconds" })(
  "an engine with a runtime of its own",
  (it) => {
    it.effect("gets the tasks and the jobs, and runs them with the service's handlers", () =>
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

    it.effect("is not run by a request", () =>
      Effect.gen(function*() {
        refused(yield* api("GET", "/api/jobs/run"), 409, "CONFLICT")
        refused(yield* api("POST", "/api/jobs/run"), 409, "CONFLICT")
      }))
  }
)

const read = (deployment: DeploymentConfig, variables: Record<string, string> = {}) =>
  Effect.provide(readSettings(deployment), ConfigProvider.layer(ConfigProvider.fromEnv({ env: variables })))

describe("the drivers of the queue", () => {
  it.effect("are the processes, unless the deployment says no or has an engine that drives itself", () =>
    Effect.gen(function*() {
      const autorun = (deployment: DeploymentConfig, variables = {}) =>
        Effect.map(read(deployment, variables), ({ jobs }) => jobs.autorun)
      assert.isTrue(yield* autorun({}))
      assert.isFalse(yield* autorun({ jobs: { autorun: { enabled: false } } }))
      assert.isFalse(yield* autorun({}, { STOA_JOBS_AUTORUN: "false" }))
      assert.isTrue(yield* autorun({ jobs: { autorun: { enabled: false } } }, { STOA_JOBS_AUTORUN: "true" }))
      assert.isFalse(yield* autorun({ jobs: { adapter: push.engine } }))
    }))

  it.effect("are never two: that ends the start with one line, as wrong numbers do", () =>
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
