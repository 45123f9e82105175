import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { Jobs } from "../../src/domain/jobs/Jobs.ts"
import { defineTask } from "../../src/domain/jobs/Task.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { stoa } from "../support/Command.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, asCustomer, asStaff, inOrganization, TestApp, testAppLayer } from "../support/TestApp.ts"

let broken = true

const fragile = defineTask({
  slug: "test/fragile",
  handler: ({ input }) => broken ? Effect.fail("broken") : Effect.succeed({ output: input })
})

/** Nobody drives the queue but the requests of the test. */
const byHand = { jobs: { autorun: { enabled: false } }, tasks: [fragile] }

const app = (production = false) =>
  layer(testAppLayer(byHand, production ? { environment: "production" } : {}), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })

const enqueue = (organizationId: string, count = 1) =>
  Effect.flatMap(Jobs, (jobs) =>
    jobs.enqueueAll(
      Array.from({ length: count }, (_, n) => ({ task: "test/fragile", input: { n }, options: { organizationId } }))
    ))

const administrator = inOrganization("org_jobs", asAdmin)

app()("the routes of jobs", (it) => {
  it.effect("run what is due, and tell what became of it", () =>
    Effect.gen(function*() {
      const [id = ""] = yield* enqueue("org_jobs")
      const ran = yield* api("GET", "/api/jobs/run")
      assert.deepStrictEqual([ran.status, ran.at("data")], [
        200,
        { processed: 0, failed: 1, retried: 0, released: 0, reaped: 0 }
      ])
      const failed = yield* api("GET", "/api/admin/jobs/failed", { as: administrator })
      assert.deepStrictEqual(failed.at("meta.pagination"), { page: 1, limit: 20, total: 1, totalPages: 1 })
      const { completedAt, createdAt, processingStartedAt, updatedAt, ...job } = Object(failed.at("data.0"))
      assert.deepStrictEqual(job, {
        id,
        organizationId: "org_jobs",
        queue: "default",
        taskSlug: "test/fragile",
        input: { n: 0 },
        output: null,
        status: "failed",
        attempts: 1,
        maxAttempts: 1,
        error: "broken",
        waitUntil: null,
        concurrencyKey: null
      })
      for (const time of [completedAt, createdAt, processingStartedAt, updatedAt]) {
        assert.match(String(time), /^\d{4}-\d\d-\d\dT.*Z$/)
      }
    }))

  it.effect("let a failed job begin anew, once", () =>
    Effect.gen(function*() {
      const [id = ""] = yield* enqueue("org_again")
      const as = inOrganization("org_again", asAdmin)
      yield* api("POST", "/api/jobs/run")
      const again = yield* api("POST", `/api/admin/jobs/${id}/retry`, { as })
      assert.strictEqual(again.status, 200)
      for (const [field, value] of Object.entries({ status: "pending", attempts: 0, error: null, completedAt: null })) {
        assert.strictEqual(again.at(`data.${field}`), value, field)
      }
      refused(yield* api("POST", `/api/admin/jobs/${id}/retry`, { as }), 409, "CONFLICT")
      broken = false
      assert.strictEqual((yield* api("POST", "/api/jobs/run?queue=default&limit=50")).at("data.processed"), 1)
      broken = true
      refused(yield* api("POST", `/api/admin/jobs/${id}/retry`, { as }), 409, "CONFLICT")
      refused(yield* api("POST", `/api/admin/jobs/${newId()}/retry`, { as }), 404, "NOT_FOUND")
      refused(yield* api("POST", "/api/admin/jobs/seven/retry", { as }), 422, "VALIDATION_FAILED")
    }))

  it.effect("show no other organization's jobs, not even to its administrators", () =>
    Effect.gen(function*() {
      const [id = ""] = yield* enqueue("org_hidden")
      yield* api("POST", "/api/jobs/run")
      const as = inOrganization("org_curious", asAdmin)
      assert.deepStrictEqual((yield* api("GET", "/api/admin/jobs/failed", { as })).list("data"), [])
      refused(yield* api("POST", `/api/admin/jobs/${id}/retry`, { as }), 404, "NOT_FOUND")
    }))

  it.effect("want the permission jobs:admin", () =>
    Effect.gen(function*() {
      for (const as of [asStaff, asCustomer("someone")]) {
        refused(yield* api("GET", "/api/admin/jobs/failed", { as }), 403, "FORBIDDEN")
        refused(yield* api("POST", `/api/admin/jobs/${newId()}/retry`, { as }), 403, "FORBIDDEN")
      }
      const as = { ...asStaff, permissions: ["jobs:admin"] }
      assert.strictEqual((yield* api("GET", "/api/admin/jobs/failed", { as })).status, 200)
    }))

  it.effect("page through the failed jobs, the last to end first", () =>
    Effect.gen(function*() {
      const as = inOrganization("org_many", asAdmin)
      yield* onDatabase((sql) =>
        sql`insert into commerce_jobs (id, organization_id, task_slug, status, error, completed_at)
          select gen_random_uuid(), 'org_many', 'test/' || n, 'failed', 'no', now() - n * interval '1 minute'
          from generate_series(1, 25) n`
      )
      const page = yield* api("GET", "/api/admin/jobs/failed?page=2&limit=10", { as })
      assert.deepStrictEqual(page.at("meta.pagination"), { page: 2, limit: 10, total: 25, totalPages: 3 })
      assert.deepStrictEqual(
        page.list("data").map((job) => Object(job)["taskSlug"]),
        Array.from({ length: 10 }, (_, n) => `test/${n + 11}`)
      )
    }))

  it.effect("show in the metrics how much a queue has to do, for how long it waits, and what became of it", () =>
    Effect.gen(function*() {
      const jobs = yield* Jobs
      const options = { organizationId: "org_metered", queue: "metered" }
      for (const delayMs of [0, 0, 3_600_000]) yield* jobs.enqueue("test/fragile", {}, { ...options, delayMs })
      yield* onDatabase((sql) =>
        sql`update commerce_jobs set created_at = now() - interval '100 seconds'
          where queue = 'metered' and wait_until is null`
      )
      const metrics = Effect.map(api("GET", "/api/metrics", { as: asAdmin }), ({ body }) => String(body))
      /** The value of the series that has these labels, in whatever order. */
      const series = (text: string, name: string, ...labels: ReadonlyArray<string>) => {
        const line = text.split("\n").find((one) =>
          one.startsWith(`${name}{`) && labels.every((label) => one.includes(label))
        )
        return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(" ")))
      }
      const gauge = (text: string, name: string) => series(text, `stoa_job_queue_${name}`, "queue=\"metered\"")
      const counter = (text: string, name: string, ...labels: ReadonlyArray<string>) =>
        series(text, `stoa_job_${name}`, "task=\"test/fragile\"", ...labels) ?? 0
      const failed = (text: string) => counter(text, "runs_total", "outcome=\"failed\"")
      const timed = (text: string) => counter(text, "duration_seconds_count")
      // They are written once a second at most.
      const before = yield* eventually(
        "three that wait",
        Effect.map(metrics, (text) => gauge(text, "depth") === 3 && text)
      )
      const oldest = gauge(before, "oldest_seconds") ?? 0
      assert.isTrue(oldest >= 100 && oldest < 160, `${oldest}`)
      yield* api("POST", "/api/jobs/run?queue=metered")
      const after = yield* eventually(
        "one that waits",
        Effect.map(metrics, (text) => gauge(text, "depth") === 1 && text)
      )
      assert.strictEqual(gauge(after, "oldest_seconds"), 0, "one that waits for its time is not late")
      assert.deepStrictEqual([failed(after) - failed(before), timed(after) - timed(before)], [2, 2])
      yield* onDatabase((sql) => sql`delete from commerce_jobs where queue = 'metered'`)
      const none = yield* eventually("none", Effect.map(metrics, (text) => gauge(text, "depth") === 0 && text))
      assert.strictEqual(gauge(none, "oldest_seconds"), 0)
    }))

  it.effect("have a command beside them, for a machine's own cron", () =>
    Effect.gen(function*() {
      const { databaseUrl } = yield* TestApp
      const jobs = yield* Jobs
      const options = { organizationId: "org_command", queue: "command" }
      for (const task of ["jobs/reap-stale", "jobs/purge-ended", "test/fragile"]) yield* jobs.enqueue(task, {}, options)
      const run = (...flags: ReadonlyArray<string>) =>
        stoa(["jobs", "run", "--queue", "command", ...flags], { DATABASE_URL: databaseUrl })
      // Nobody knows the task of this test there.
      const [done, refused] = yield* Effect.all([run("--limit", "3"), run("--limit", "0")], { concurrency: 2 })
      assert.strictEqual(done.code, 0, done.output)
      const recorded =
        "queue command: 2 succeeded, 1 failed, 0 to be tried again, 0 released, 0 taken from dead workers"
      assert.include(done.output, recorded)
      assert.deepStrictEqual([refused.code, refused.output.trim()], [1, "stoa: --limit must be from 1 to 100."])
      const rows = yield* onDatabase((sql) =>
        sql<{ status: string }>`select status from commerce_jobs where queue = 'command' order by created_at, id`
      )
      assert.deepStrictEqual(rows.map(({ status }) => status), ["succeeded", "succeeded", "failed"])
    }))

  for (
    const [query, expected] of [["", 10], ["?limit=3", 3], ["?limit=0", 1], ["?limit=x", 10], [
      "?limit=1000",
      100
    ]] as const
  ) {
    it.effect(`run ${expected} jobs at most when they are asked "${query}"`, () =>
      Effect.gen(function*() {
        // What the service itself wants done, by the clock, would be run among them.
        yield* onDatabase((sql) => sql`delete from commerce_jobs`)
        yield* enqueue("org_limits", 101)
        const ran = yield* api("GET", `/api/jobs/run${query}`)
        assert.strictEqual(ran.at("data.failed"), expected)
      }))
  }
})

app(true)("the run route in production", (it) => {
  it.effect("is for those alone who may do everything", () =>
    Effect.gen(function*() {
      for (const method of ["GET", "POST"]) {
        refused(yield* api(method, "/api/jobs/run"), 401, "UNAUTHORIZED")
        const key = yield* api(method, "/api/jobs/run", { headers: { "x-api-key": "a-key-for-metrics-alone" } })
        refused(key, 403, "FORBIDDEN")
        assert.strictEqual(key.text("error.message"), "Job runner requires admin access")
        const run = yield* api(method, "/api/jobs/run", { headers: { "x-api-key": "dev-admin-key" } })
        assert.strictEqual(run.status, 200, JSON.stringify(run.body))
      }
    }))
})
