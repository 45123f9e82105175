import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { type EnqueueOptions, Jobs } from "../../src/domain/platform/jobs/Jobs.ts"
import { defineTask } from "../../src/domain/platform/tasks/Task.ts"
import { holding, onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { stoa } from "../support/Command.ts"
import { eventually } from "../support/Eventually.ts"
import {
  api,
  asAdmin,
  asCustomer,
  asStaff,
  at,
  inOrganization,
  live,
  TestApp,
  testAppLayer
} from "../support/TestApp.ts"

/** The runs of each job, by its id. */
const runs = new Map<string, number>()
const gate = Deferred.makeUnsafe<void>()

const tasks = [
  defineTask({
    slug: "test/echo",
    handler: Effect.fnUntraced(function*({ input, job }) {
      runs.set(job.id, (runs.get(job.id) ?? 0) + 1)
      if (input["waits"] === true) yield* Deferred.await(gate)
      return input["fails"] === undefined ? { output: input } : yield* Effect.fail(input["fails"])
    })
  }),
  defineTask({ slug: "test/again", retries: { attempts: 2 }, handler: () => Effect.fail("not yet") }),
  defineTask({ slug: "test/own-queue", queue: "own", handler: () => Effect.void })
]

/** Only the requests of the tests run the queues. */
const app = (production = false) =>
  layer(
    testAppLayer({ tasks, jobs: { autorun: { enabled: false } } }, production ? { environment: "production" } : {}),
    live
  )

const aQueue = () => `q-${newId()}`

const enqueue = (task: string, input: object, options: Partial<EnqueueOptions> = {}) =>
  Effect.flatMap(Jobs, (jobs) => jobs.enqueue(task, { ...input }, { organizationId: "org_default", ...options }))

const run = (query = "", method = "POST") => api(method, `/api/jobs/run?${query}`)

const failedJobs = "/api/admin/jobs/failed"
const retry = (id: string, as = asAdmin) => api("POST", `/api/admin/jobs/${id}/retry`, { as })

const failedIds = (as = asAdmin) =>
  Effect.map(api("GET", `${failedJobs}?limit=100`, { as }), (list) => list.list("data").map((job) => at(job, "id")))

const aFailure = Effect.fnUntraced(function*(organizationId = "org_default") {
  const queue = aQueue()
  const id = yield* enqueue("test/echo", { fails: "broken" }, { queue, organizationId })
  yield* run(`queue=${queue}`)
  return { id, queue }
})

app()("the routes of jobs", (it) => {
  it.effect("the routes list the failed jobs of an organization, and none that wait or succeeded", () =>
    Effect.gen(function*() {
      const [queue, organizationId] = [aQueue(), "org_list"]
      yield* enqueue("test/echo", {}, { queue, organizationId })
      yield* run(`queue=${queue}`)
      yield* enqueue("test/echo", { fails: "later" }, { queue, organizationId })
      const failed = yield* aFailure(organizationId)
      const list = yield* api("GET", failedJobs, { as: inOrganization(organizationId, asAdmin) })
      assert.deepStrictEqual(list.at("meta.pagination"), { page: 1, limit: 20, total: 1, totalPages: 1 })
      const { completedAt, createdAt, processingStartedAt, updatedAt, ...job } = Object(list.at("data.0"))
      assert.deepStrictEqual(job, {
        ...failed,
        organizationId,
        taskSlug: "test/echo",
        input: { fails: "broken" },
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

  it.effect("the routes page through the failed jobs, the last to end first", () =>
    Effect.gen(function*() {
      const as = inOrganization("org_many", asAdmin)
      yield* onDatabase((sql) =>
        sql`insert into commerce_jobs (id, organization_id, task_slug, status, error, completed_at)
          select gen_random_uuid(), 'org_many', 'test/' || n, 'failed', 'no', now() - n * interval '1 minute'
          from generate_series(1, 25) n`
      )
      for (
        const [query, page, limit, first, count] of [
          ["page=2&limit=10", 2, 10, 11, 10],
          ["", 1, 20, 1, 20],
          ["limit=1000", 1, 100, 1, 25],
          ["limit=0", 1, 20, 1, 20],
          ["limit=x&page=-1", 1, 20, 1, 20]
        ] as const
      ) {
        const found = yield* api("GET", `${failedJobs}?${query}`, { as })
        const totalPages = Math.ceil(25 / limit)
        assert.deepInclude(found.at("meta.pagination"), { page, limit, total: 25, totalPages }, query)
        const slugs = Array.from({ length: count }, (_, n) => `test/${n + first}`)
        assert.deepStrictEqual(found.list("data").map((job) => at(job, "taskSlug")), slugs, query)
      }
    }))

  it.effect("the routes show no other organization's jobs, not even to its administrators", () =>
    Effect.gen(function*() {
      const [ours, theirs] = [yield* aFailure(), yield* aFailure("org_curious")]
      const as = inOrganization("org_curious", asAdmin)
      assert.deepStrictEqual(yield* failedIds(as), [theirs.id])
      assert.notInclude(yield* failedIds(), theirs.id)
      refused(yield* retry(ours.id, as), 404, "NOT_FOUND")
      assert.include(yield* failedIds(), ours.id)
    }))

  it.effect("the routes of failed jobs want the permission jobs:admin", () =>
    Effect.gen(function*() {
      const { id } = yield* aFailure()
      for (const as of [asStaff, asCustomer("c"), holding("jobs:read", "orders:update")]) {
        refused(yield* api("GET", failedJobs, { as }), 403, "FORBIDDEN")
        refused(yield* retry(id, as), 403, "FORBIDDEN")
      }
      refused(yield* api("GET", failedJobs), 401, "UNAUTHORIZED")
      refused(yield* api("POST", `/api/admin/jobs/${id}/retry`), 401, "UNAUTHORIZED")
      assert.strictEqual((yield* api("GET", failedJobs, { as: holding("jobs:admin") })).status, 200)
      assert.strictEqual((yield* retry(id, holding("jobs:admin"))).status, 200)
    }))

  it.effect("the routes restart a failed job with all its tries; of five requests at once one does", () =>
    Effect.gen(function*() {
      const { id, queue } = yield* aFailure()
      const answers = yield* Effect.all(Array.from({ length: 5 }, () => retry(id)), { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409])
      const { createdAt: _, updatedAt: __, ...job } = Object(answers.find(({ status }) => status === 200)?.at("data"))
      assert.deepStrictEqual(job, {
        id,
        organizationId: "org_default",
        queue,
        taskSlug: "test/echo",
        input: { fails: "broken" },
        output: null,
        status: "pending",
        attempts: 0,
        maxAttempts: 1,
        error: null,
        waitUntil: null,
        concurrencyKey: null,
        processingStartedAt: null,
        completedAt: null
      })
      assert.notInclude(yield* failedIds(), id)
      yield* run(`queue=${queue}`)
      assert.include(yield* failedIds(), id)
      assert.strictEqual(runs.get(id), 2)
    }))

  it.effect("the routes refuse to retry a job that has not failed: 409", () =>
    Effect.gen(function*() {
      const queue = aQueue()
      const id = yield* enqueue("test/echo", { waits: true }, { queue })
      refused(yield* retry(id), 409, "CONFLICT", "pending")
      const running = yield* Effect.forkChild(run(`queue=${queue}`))
      yield* eventually("the job to run", Effect.sync(() => runs.has(id)))
      refused(yield* retry(id), 409, "CONFLICT", "processing")
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual((yield* Fiber.join(running)).at("data.processed"), 1)
      refused(yield* retry(id), 409, "CONFLICT", "succeeded")
      assert.strictEqual((yield* run(`queue=${queue}`)).at("data.processed"), 0)
      assert.strictEqual(runs.get(id), 1)
    }))

  it.effect("the routes answer 404 for an unknown job, and 422 without any SQL for an invalid id", () =>
    Effect.gen(function*() {
      refused(yield* retry(newId()), 404, "NOT_FOUND")
      const bad = yield* retry("seven")
      refused(bad, 422, "VALIDATION_FAILED")
      assert.isAbove(bad.list("error.details.issues").length, 0)
      assert.notMatch(JSON.stringify(bad.body), /select|uuid_in|commerce_jobs/i)
    }))

  it.effect("the routes run a queue by GET and by POST and count what was done; another method is 405", () =>
    Effect.gen(function*() {
      for (const method of ["GET", "POST"]) {
        const queue = aQueue()
        for (const input of [{}, {}, { fails: "for good" }]) yield* enqueue("test/echo", input, { queue })
        yield* enqueue("test/again", {}, { queue })
        const counts = { processed: 2, failed: 1, retried: 1, released: 0, reaped: 0 }
        assert.deepStrictEqual((yield* run(`queue=${queue}`, method)).at("data"), counts)
        const none = { ...counts, processed: 0, failed: 0, retried: 0 }
        assert.deepStrictEqual((yield* run(`queue=${queue}`, method)).at("data"), none)
      }
      const other = yield* run("", "PUT")
      refused(other, 405, "METHOD_NOT_ALLOWED")
      assert.sameMembers((other.headers.get("allow") ?? "").split(", "), ["GET", "HEAD", "POST"])
    }))

  it.effect("the routes run the queue that the request names, `default` without a name", () =>
    Effect.gen(function*() {
      const queue = aQueue()
      const [first, second] = [yield* enqueue("test/echo", {}), yield* enqueue("test/echo", {}, { queue })]
      yield* enqueue("test/own-queue", {})
      yield* run("limit=100")
      assert.deepStrictEqual([runs.get(first), runs.get(second)], [1, undefined])
      for (const name of [queue, "own"]) assert.strictEqual((yield* run(`queue=${name}`)).at("data.processed"), 1)
      assert.strictEqual(runs.get(second), 1)
    }))

  for (const [query, expected] of [["", 10], ["limit=3", 3], ["limit=0", 1], ["limit=x", 10], ["limit=1000", 100]]) {
    it.effect(`the run route runs ${expected} jobs at most for the query "${query}"`, () =>
      Effect.gen(function*() {
        const queue = aQueue()
        yield* onDatabase((sql) =>
          sql`insert into commerce_jobs (id, organization_id, queue, task_slug)
            select gen_random_uuid(), 'org_limits', ${queue}, 'test/unknown' from generate_series(1, 101)`
        )
        assert.strictEqual((yield* run(`queue=${queue}&${query}`)).at("data.failed"), expected)
      }))
  }

  it.effect("the routes run a queue for everyone outside production", () =>
    Effect.gen(function*() {
      for (const as of [undefined, asCustomer("c"), asStaff]) {
        const answer = yield* api("GET", `/api/jobs/run?queue=${aQueue()}`, { ...(as && { as }) })
        assert.strictEqual(answer.status, 200)
        assert.isString(answer.headers.get("x-request-id"))
      }
    }))

  it.effect("the metrics show the depth of a queue, its oldest job, and the outcomes of runs", () =>
    Effect.gen(function*() {
      const queue = "metered"
      for (const delayMs of [0, 0, 3_600_000]) yield* enqueue("test/echo", { fails: "no" }, { queue, delayMs })
      yield* onDatabase((sql) =>
        sql`update commerce_jobs set created_at = now() - interval '100 seconds'
          where queue = ${queue} and wait_until is null`
      )
      const metrics = Effect.map(api("GET", "/api/metrics", { as: asAdmin }), ({ body }) => String(body))
      /** The value of the series with these labels, in any order. */
      const series = (text: string, name: string, ...labels: ReadonlyArray<string>) => {
        const isIt = (line: string) => line.startsWith(`${name}{`) && labels.every((label) => line.includes(label))
        const line = text.split("\n").find(isIt)
        return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(" ")))
      }
      const gauge = (text: string, name: string) => series(text, `stoa_job_queue_${name}`, `queue="${queue}"`)
      const ended = (text: string) =>
        [["runs_total", "outcome=\"failed\""], ["duration_seconds_count"]].map(([name, ...labels]) =>
          series(text, `stoa_job_${name}`, "task=\"test/echo\"", ...labels) ?? 0
        )
      // They are written at most once a second.
      const withDepth = (depth: number) =>
        eventually(`a depth of ${depth}`, Effect.map(metrics, (text) => gauge(text, "depth") === depth && text))
      const before = yield* withDepth(3)
      const oldest = gauge(before, "oldest_seconds") ?? 0
      assert.isTrue(oldest >= 100 && oldest < 160, `${oldest}`)
      yield* run(`queue=${queue}`)
      const after = yield* withDepth(1)
      assert.strictEqual(gauge(after, "oldest_seconds"), 0, "a job that waits for its time is not late")
      assert.deepStrictEqual(ended(after), ended(before).map((count) => count + 2))
      yield* onDatabase((sql) => sql`delete from commerce_jobs where queue = ${queue}`)
      assert.strictEqual(gauge(yield* withDepth(0), "oldest_seconds"), 0)
    }))

  it.effect("a command runs a queue once, for a machine's cron", () =>
    Effect.gen(function*() {
      const { databaseUrl } = yield* TestApp
      const queue = "command"
      // The command's process does not know the task of this test.
      for (const task of ["jobs/reap-stale", "jobs/purge-ended", "test/echo"]) yield* enqueue(task, {}, { queue })
      const command = (limit: string) =>
        stoa(["jobs", "run", "--queue", queue, "--limit", limit], { DATABASE_URL: databaseUrl })
      const [done, refusal] = yield* Effect.all([command("3"), command("0")], { concurrency: 2 })
      assert.strictEqual(done.code, 0, done.output)
      const counts = "queue command: 2 succeeded, 1 failed, 0 to be tried again, 0 released, 0 taken from dead workers"
      assert.include(done.output, counts)
      assert.deepStrictEqual([refusal.code, refusal.output.trim()], [1, "stoa: --limit must be from 1 to 100."])
      const rows = yield* onDatabase((sql) =>
        sql<{ status: string }>`select status from commerce_jobs where queue = ${queue} order by created_at, id`
      )
      assert.deepStrictEqual(rows.map(({ status }) => status), ["succeeded", "succeeded", "failed"])
    }))
})

app(true)("the run route in production", (it) => {
  it.effect("the run route in production is only for a key that may do everything", () =>
    Effect.gen(function*() {
      const withKey = (method: string, key: string) => api(method, "/api/jobs/run", { headers: { "x-api-key": key } })
      for (const method of ["GET", "POST"]) {
        refused(yield* api(method, "/api/jobs/run"), 401, "UNAUTHORIZED", method)
        const weak = yield* withKey(method, "a-key-for-metrics-alone")
        refused(weak, 403, "FORBIDDEN", method)
        assert.strictEqual(weak.text("error.message"), "Job runner requires admin access.")
        const answer = yield* withKey(method, "dev-admin-key")
        assert.deepStrictEqual([answer.status, answer.at("data.processed")], [200, 0], method)
      }
    }))
})
