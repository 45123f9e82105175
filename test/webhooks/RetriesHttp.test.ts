import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { isSignedWith, type Reply, startReceiver } from "../support/ScriptedReceiver.ts"
import { api, asAdmin, at } from "../support/TestApp.ts"
import { anEndpoint, anEvent, delivering, logOf, retrying, toLoopback, webhooks } from "./Endpoints.ts"

const withDeliveries = toLoopback()

const isDelivered = (endpointId: string) =>
  Effect.map(logOf(endpointId), (rows) => rows.find((row) => typeof at(row, "deliveredAt") === "string"))

const tries = (rows: ReadonlyArray<unknown>) => Math.max(0, ...rows.map((row) => Number(at(row, "attemptCount"))))

/** Jobs of deliveries to an endpoint that have failed for good. */
const failedJobs = Effect.fnUntraced(function*(endpointId: string) {
  const list = yield* api("GET", "/api/admin/jobs/failed?limit=100", { as: asAdmin })
  return list.list("data").filter((job) => at(job, "input.endpointId") === endpointId)
})

/** An endpoint at a path of its own that answers so, and an event for it. */
const given = Effect.fnUntraced(function*(...replies: readonly [Reply, ...ReadonlyArray<Reply>]) {
  const receiver = yield* startReceiver
  receiver.reply("/hook", ...replies)
  const endpoint = yield* anEndpoint(`${receiver.url}/hook`, ["catalog.create"])
  const entity = yield* anEvent()
  return { ...endpoint, entity, receiver, calls: () => receiver.received("/hook") }
})

withDeliveries("a delivery that does not arrive", (it) => {
  it.effect("is tried again under the same id, signed anew, until it arrives", () =>
    Effect.gen(function*() {
      const { calls, id, secret } = yield* given({ status: 500, body: "no" }, "reset", { status: 404 }, { status: 201 })
      const row = yield* retrying("the fourth try", isDelivered(id))
      assert.strictEqual(calls().length, 4)
      assert.strictEqual(new Set(calls().map((call) => call.headers["webhook-id"])).size, 1)
      assert.strictEqual(new Set(calls().map((call) => call.raw)).size, 1)
      assert.isTrue(calls().every((call) => isSignedWith(call, secret)))
      const stamps = calls().map((call) => Number(call.headers["webhook-timestamp"]))
      assert.deepStrictEqual(stamps, [...stamps].sort((a, b) => a - b))
      assert.deepInclude(row, { statusCode: 201, attemptCount: 4, nextRetryAt: null, failedAt: null })
      assert.deepStrictEqual(yield* failedJobs(id), [])
    }))

  it.effect("counts as failed whatever is not 2xx, and says when it is tried again", () =>
    Effect.gen(function*() {
      for (const status of [300, 301, 400, 401, 404, 429, 500, 503]) {
        const { calls, id } = yield* given({ status, body: `answer ${status}` })
        const row = yield* delivering(
          `the log of ${status}`,
          Effect.map(logOf(id), (rows) => rows.find((one) => at(one, "statusCode") === status))
        )
        assert.strictEqual(at(row, "deliveredAt"), null)
        assert.strictEqual(at(row, "attemptCount"), 1)
        assert.isAbove(Date.parse(String(at(row, "nextRetryAt"))), Date.now(), String(status))
        assert.include(JSON.stringify(row), `answer ${status}`)
        assert.strictEqual(calls().length, 1)
        yield* api("DELETE", `${webhooks}/${id}`, { as: asAdmin })
      }
    }))

  it.effect("is not sent on to where a redirect points", () =>
    Effect.gen(function*() {
      const { calls, id, receiver } = yield* given({ status: 302, headers: { location: "/elsewhere" } })
      yield* delivering(
        "the log",
        Effect.map(logOf(id), (rows) => rows.find((row) => at(row, "statusCode") === 302))
      )
      assert.deepStrictEqual(receiver.received("/elsewhere"), [])
      assert.strictEqual(calls().length, 1)
    }))

  it.effect("is noted with its reason when nobody listens there", () =>
    Effect.gen(function*() {
      const { id } = yield* anEndpoint("http://127.0.0.1:1/", ["catalog.create"])
      yield* anEvent()
      const rows = yield* delivering("the log", Effect.map(logOf(id), (log) => log.length > 0 && log))
      assert.strictEqual(at(rows[0], "statusCode") ?? null, null)
      assert.isAbove(String(at(rows[0], "error") ?? "").length, 0)
      assert.isString(at(rows[0], "nextRetryAt"))
      yield* api("DELETE", `${webhooks}/${id}`, { as: asAdmin })
    }))

  it.effect(
    "ends after ten tries as a failed job, which holds no secret and can be sent again",
    () =>
      Effect.gen(function*() {
        const { calls, id, receiver, secret } = yield* given({ status: 503 })
        const [job] = yield* retrying(
          "the last try",
          Effect.map(failedJobs(id), (jobs) => jobs.length > 0 && jobs),
          40_000
        )
        assert.strictEqual(calls().length, 10)
        assert.strictEqual(tries(yield* logOf(id)), 10)
        assert.isTrue((yield* logOf(id)).some((row) => typeof at(row, "failedAt") === "string"))
        assert.include(job, { taskSlug: "webhooks/deliver", queue: "webhooks", attempts: 10, maxAttempts: 10 })
        assert.sameMembers(Object.keys(Object(at(job, "input"))), ["endpointId", "eventId", "entityType", "entityId"])
        for (const hidden of [secret, secret.slice(6), receiver.url]) assert.notInclude(JSON.stringify(job), hidden)

        receiver.reply("/hook", { status: 204 })
        const retried = yield* api("POST", `/api/admin/jobs/${String(at(job, "id"))}/retry`, { as: asAdmin })
        assert.deepStrictEqual([retried.status, retried.at("data.status")], [200, "pending"])
        yield* delivering("the delivery", isDelivered(id))
        assert.strictEqual(calls().length, 11)
        assert.strictEqual(new Set(calls().map((call) => call.headers["webhook-id"])).size, 1)
      }),
    90_000
  )

  it.effect("is never tried again once the receiver says 410", () =>
    Effect.gen(function*() {
      const { calls, id } = yield* given({ status: 410 })
      const [job] = yield* delivering(
        "the end of it",
        Effect.map(failedJobs(id), (jobs) => jobs.length > 0 && jobs)
      )
      assert.strictEqual(at(job, "attempts"), 1)
      const [row] = yield* logOf(id)
      assert.strictEqual(at(row, "statusCode"), 410)
      assert.strictEqual(at(row, "nextRetryAt"), null)
      assert.isString(at(row, "failedAt"))
      assert.strictEqual(calls().length, 1)
    }))

  it.effect("can be sent again by hand while it waits, and arrives once more", () =>
    Effect.gen(function*() {
      const { calls, id } = yield* given({ status: 500 }, { status: 200 })
      const [row] = yield* delivering("the failure", Effect.map(logOf(id), (rows) => rows.length > 0 && rows))
      const answer = yield* api("POST", `${webhooks}/deliveries/${String(at(row, "id"))}/redeliver`, {
        as: asAdmin,
        body: {}
      })
      assert.strictEqual(answer.status, 200)
      yield* delivering("the second", isDelivered(id))
      assert.strictEqual(calls()[0]?.headers["webhook-id"], calls()[1]?.headers["webhook-id"])
    }))
})

/** Five days are too long for a test, so this deployment's patience is a fraction of a second. */

toLoopback({ disableAfterDays: 0.000_001 })("an endpoint", (it) => {
  describe("that only fails", () => {
    it.effect("is switched off when that has gone on too long, and not by a failure after a success", () =>
      Effect.gen(function*() {
        const { calls, id } = yield* given({ status: 200 }, { status: 500 }, { status: 200 })
        yield* delivering("the success", isDelivered(id))
        yield* anEvent()
        yield* retrying("a failure and its repair", Effect.sync(() => calls().length >= 3))
        assert.strictEqual((yield* api("GET", `${webhooks}/${id}`, { as: asAdmin })).at("data.isActive"), true)

        const dead = yield* given({ status: 500 })
        yield* retrying(
          "the endpoint to be switched off",
          Effect.map(api("GET", `${webhooks}/${dead.id}`, { as: asAdmin }), (one) => one.at("data.isActive") === false)
        )
        assert.isAtLeast(dead.calls().length, 1)
        assert.isAtMost(dead.calls().length, 9)
      }))
  })
})
