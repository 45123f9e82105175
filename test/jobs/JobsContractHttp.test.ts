import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { elsewhere, holding, openElsewhere, refused } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, asCustomer, asStaff, at, testAppLayer } from "../support/TestApp.ts"
import { aMark, deployment, enqueue, failedJob, openGate, recordOf, run, runsOf, runUntil } from "./TestTasks.ts"

const failed = "/api/admin/jobs/failed"
const retry = (id: string, as: typeof asAdmin = asAdmin) => api("POST", `/api/admin/jobs/${id}/retry`, { as })

/** A queue that no other test uses, so that counts are exact. */
const aQueue = () => `q-${newId()}`

/** A job that has failed for good, with its reason. */
const aFailure = Effect.fnUntraced(function*(fail: string, as: typeof asAdmin = asAdmin, input: object = {}) {
  const queue = aQueue()
  const [id = ""] = yield* enqueue([{ slug: "test/echo", input: { fail, ...input }, options: { queue } }], as)
  yield* runUntil("the job to fail", failedJob(id, as), queue)
  return id
})

const withTasks = layer(testAppLayer(deployment), { excludeTestServices: true, timeout: "60 seconds" })

withTasks("jobs over HTTP", (it) => {
  describe("GET /api/admin/jobs/failed", () => {
    it.effect("lists neither jobs that wait nor jobs that succeeded", () =>
      Effect.gen(function*() {
        const queue = aQueue()
        const [done = ""] = yield* enqueue([{ slug: "test/echo", options: { queue } }])
        yield* run(`queue=${queue}`)
        const [waiting = ""] = yield* enqueue([{ slug: "test/echo", input: { fail: "Later." }, options: { queue } }])
        assert.deepStrictEqual([yield* failedJob(done), yield* failedJob(waiting)], [undefined, undefined])
        assert.strictEqual((yield* recordOf(done))?.status, "succeeded")
        assert.strictEqual((yield* recordOf(waiting))?.status, "pending")
      }))

    it.effect("is paged, the last to fail first", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const ids: Array<string> = []
        for (const nth of ["first", "second", "third"]) ids.unshift(yield* aFailure(nth, elsewhere))
        const pages = [
          yield* api("GET", `${failed}?limit=2`, { as: elsewhere }),
          yield* api("GET", `${failed}?limit=2&page=2`, { as: elsewhere })
        ]
        assert.deepStrictEqual(pages.flatMap((page) => page.list("data").map((job) => at(job, "id"))), ids)
        assert.deepStrictEqual(pages[1]?.at("meta.pagination"), { page: 2, limit: 2, total: 3, totalPages: 2 })
        const whole = yield* api("GET", failed, { as: elsewhere })
        assert.deepStrictEqual(whole.at("meta.pagination"), { page: 1, limit: 20, total: 3, totalPages: 1 })
        for (const [query, limit] of [["limit=1000", 100], ["limit=0", 20], ["limit=x&page=-1", 20]] as const) {
          const page = yield* api("GET", `${failed}?${query}`, { as: elsewhere })
          assert.deepStrictEqual(page.at("meta.pagination"), { page: 1, limit, total: 3, totalPages: 1 }, query)
        }
      }))

    it.effect("shows an organization its own jobs only, whatever its administrator may do", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const [ours, theirs] = [yield* aFailure("ours"), yield* aFailure("theirs", elsewhere)]
        assert.isUndefined(yield* failedJob(ours, elsewhere))
        assert.isUndefined(yield* failedJob(theirs, asAdmin))
        const list = yield* api("GET", `${failed}?limit=100`, { as: elsewhere })
        assert.deepStrictEqual([...new Set(list.list("data").map((job) => at(job, "organizationId")))], ["org_other"])
      }))

    it.effect("asks for jobs:admin, as the retry does", () =>
      Effect.gen(function*() {
        const id = yield* aFailure("asked for")
        for (const as of [asStaff, asCustomer("c"), holding("jobs:read", "orders:update")]) {
          refused(yield* api("GET", failed, { as }), 403, "FORBIDDEN")
          refused(yield* retry(id, as), 403, "FORBIDDEN")
        }
        refused(yield* api("GET", failed), 401, "UNAUTHORIZED")
        refused(yield* api("POST", `/api/admin/jobs/${id}/retry`), 401, "UNAUTHORIZED")
        assert.strictEqual((yield* api("GET", failed, { as: holding("jobs:admin") })).status, 200)
        assert.strictEqual((yield* retry(id, holding("jobs:admin"))).status, 200)
      }))
  })

  describe("POST /api/admin/jobs/:id/retry", () => {
    it.effect("makes a failed job new again and answers its record", () =>
      Effect.gen(function*() {
        const mark = aMark()
        const id = yield* aFailure("Once.", asAdmin, { mark })
        const answer = yield* retry(id)
        assert.strictEqual(answer.status, 200)
        assert.include(answer.at("data"), {
          id,
          organizationId: "org_default",
          taskSlug: "test/echo",
          status: "pending",
          attempts: 0,
          maxAttempts: 1,
          error: null,
          output: null,
          waitUntil: null,
          processingStartedAt: null,
          completedAt: null
        })
        assert.deepStrictEqual(answer.at("data.input"), { fail: "Once.", mark })
        assert.isUndefined(yield* failedJob(id))
        yield* runUntil("the second failure", failedJob(id), answer.text("data.queue"))
        assert.deepStrictEqual(runsOf(mark).map(({ call }) => call.job.attemptNumber), [1, 1])
      }))

    it.effect("is refused for a job that has not failed: 409", () =>
      Effect.gen(function*() {
        const queue = aQueue()
        const mark = aMark()
        const [done = ""] = yield* enqueue([{ slug: "test/echo", input: { say: 1 }, options: { queue } }])
        yield* run(`queue=${queue}`)
        refused(yield* retry(done), 409, "CONFLICT")
        assert.deepStrictEqual((yield* recordOf(done))?.output, { said: 1 })

        const [busy = ""] = yield* enqueue([{ slug: "test/echo", input: { mark, gate: mark }, options: { queue } }])
        refused(yield* retry(busy), 409, "CONFLICT", "pending")
        const running = yield* Effect.forkChild(run(`queue=${queue}`))
        yield* eventually("the job to run", Effect.sync(() => runsOf(mark).length === 1))
        refused(yield* retry(busy), 409, "CONFLICT", "processing")
        yield* openGate(mark)
        yield* runUntil("its end", Effect.map(recordOf(busy), (job) => job?.status === "succeeded"), queue)
        yield* Fiber.join(running)
        assert.strictEqual(runsOf(mark).length, 1)
      }))

    it.effect("of five at once one wins", () =>
      Effect.gen(function*() {
        const mark = aMark()
        const id = yield* aFailure("Again and again.", asAdmin, { mark })
        const answers = yield* Effect.all(Array.from({ length: 5 }, () => retry(id)), { concurrency: "unbounded" })
        assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409])
        const queue = String(answers.find(({ status }) => status === 200)?.at("data.queue"))
        yield* runUntil("the second failure", failedJob(id), queue)
        assert.strictEqual(runsOf(mark).length, 2)
      }))

    it.effect("answers 404 for an unknown job and for another organization's, 422 for what is no id", () =>
      Effect.gen(function*() {
        yield* openElsewhere
        const ours = yield* aFailure("ours alone")
        refused(yield* retry(newId()), 404, "NOT_FOUND")
        refused(yield* retry(ours, elsewhere), 404, "NOT_FOUND")
        const bad = yield* retry("x")
        refused(bad, 422, "VALIDATION_FAILED")
        assert.isAbove(bad.list("error.details.issues").length, 0)
        assert.notMatch(JSON.stringify(bad.body), /select|uuid_in|commerce_jobs/i)
        assert.isDefined(yield* failedJob(ours))
      }))
  })

  describe("/api/jobs/run", () => {
    it.effect("counts what it did: ended, failed for good, and to be tried again", () =>
      Effect.gen(function*() {
        const queue = aQueue()
        yield* enqueue([
          { slug: "test/echo", options: { queue } },
          { slug: "test/echo", options: { queue } },
          { slug: "test/echo", input: { fail: "For good." }, options: { queue } },
          { slug: "test/exponential", input: { fail: "For now." }, options: { queue } }
        ])
        const answer = yield* run(`queue=${queue}`)
        assert.strictEqual(answer.status, 200)
        assert.include(answer.at("data"), { processed: 2, failed: 1, retried: 1, released: 0, reaped: 0 })
        const nothing = yield* run(`queue=${aQueue()}`)
        assert.include(nothing.at("data"), { processed: 0, failed: 0, retried: 0, released: 0, reaped: 0 })
      }))

    it.effect("is reached by GET and by POST; another method is told so", () =>
      Effect.gen(function*() {
        for (const method of ["GET", "POST"]) {
          const queue = aQueue()
          yield* enqueue([{ slug: "test/echo", options: { queue } }])
          assert.strictEqual((yield* run(`queue=${queue}`, method)).at("data.processed"), 1, method)
        }
        const other = yield* run("", "PUT")
        refused(other, 405, "METHOD_NOT_ALLOWED")
        assert.sameMembers((other.headers.get("allow") ?? "").split(", "), ["GET", "HEAD", "POST"])
      }))

    it.effect("serves the queue it names, `default` when it names none", () =>
      Effect.gen(function*() {
        const [one, two, three] = [aMark(), aMark(), aMark()]
        const queue = aQueue()
        yield* enqueue([
          { slug: "test/echo", input: { mark: one } },
          { slug: "test/echo", input: { mark: two }, options: { queue } },
          { slug: "test/own-queue", input: { mark: three } }
        ])
        const ran = () => [one, two, three].map((mark) => runsOf(mark).length)
        yield* runUntil("the one in `default`", Effect.sync(() => runsOf(one).length === 1))
        assert.deepStrictEqual(ran(), [1, 0, 0])
        yield* run(`queue=${queue}`)
        assert.deepStrictEqual(ran(), [1, 1, 0])
        yield* run("queue=own")
        assert.deepStrictEqual(ran(), [1, 1, 1])
      }))

    it.effect("takes the oldest first", () =>
      Effect.gen(function*() {
        const queue = aQueue()
        const marks = [aMark(), aMark(), aMark()]
        for (const mark of marks) yield* enqueue([{ slug: "test/echo", input: { mark }, options: { queue } }])
        for (const [nth, mark] of marks.entries()) {
          assert.strictEqual((yield* run(`queue=${queue}&limit=1`)).at("data.processed"), 1)
          assert.deepStrictEqual(marks.map((one) => runsOf(one).length), marks.map((_, at) => at <= nth ? 1 : 0), mark)
        }
      }))

    it.effect("called by four at once runs each job once", () =>
      Effect.gen(function*() {
        const queue = aQueue()
        const marks = Array.from({ length: 60 }, aMark)
        yield* enqueue(marks.map((mark) => ({ slug: "test/echo", input: { mark }, options: { queue } })))
        const answers = yield* Effect.all(Array.from({ length: 4 }, () => run(`queue=${queue}&limit=40`)), {
          concurrency: "unbounded"
        })
        yield* runUntil("all of them", Effect.sync(() => marks.every((mark) => runsOf(mark).length > 0)), queue)
        assert.isAbove(answers.reduce((sum, answer) => sum + answer.number("data.processed"), 0), 0)
        assert.deepStrictEqual(marks.filter((mark) => runsOf(mark).length !== 1), [])
      }))

    it.effect("asks for no permission outside production", () =>
      Effect.gen(function*() {
        for (const as of [undefined, asCustomer("c"), asStaff]) {
          const answer = yield* api("GET", `/api/jobs/run?queue=${aQueue()}`, { ...(as && { as }) })
          assert.strictEqual(answer.status, 200)
          assert.isString(answer.headers.get("x-request-id"))
        }
      }))
  })
})

const inProduction = layer(testAppLayer(deployment, { environment: "production" }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})

inProduction("jobs in production", (it) => {
  it.effect("are run for a key that may do everything, and for nobody else", () =>
    Effect.gen(function*() {
      for (const method of ["GET", "POST"]) {
        refused(yield* api(method, "/api/jobs/run"), 401, "UNAUTHORIZED", method)
        const weak = { "x-api-key": "a-key-for-metrics-alone" }
        refused(yield* api(method, "/api/jobs/run", { headers: weak }), 403, "FORBIDDEN", method)
        const answer = yield* api(method, "/api/jobs/run", { headers: { "x-api-key": "dev-admin-key" } })
        assert.deepStrictEqual([answer.status, answer.at("data.processed")], [200, 0], method)
      }
    }))
})
