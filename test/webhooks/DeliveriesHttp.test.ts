import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Webhook } from "standardwebhooks"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { anOrganization } from "../support/Organizations.ts"
import { api, asAdmin, at, live, testAppLayer } from "../support/TestApp.ts"
import { type Reaction, webhookReceiver } from "../support/WebhookReceiver.ts"
import { signedHeaders } from "./WebhookWorld.ts"

const webhooks = "/api/webhooks"

/** A receiver with an endpoint for new entities, in an organization of its test. */
const anEndpoint = Effect.fnUntraced(function*(reaction: Reaction = { status: 204 }, events = ["catalog.create"]) {
  const as = yield* anOrganization
  const receiver = yield* webhookReceiver()
  receiver.react(reaction)
  const made = yield* api("POST", webhooks, { as, body: { url: receiver.url, events } })
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  return { as, receiver, id: made.text("data.id"), secret: made.text("data.secret") }
})

/** Creates a catalog entity, which emits `catalog.create`. */
const anEvent = Effect.fnUntraced(function*(as: typeof asAdmin) {
  const made = yield* api("POST", "/api/catalog/entities", { as, body: { type: "product", slug: newId() } })
  return { id: made.text("data.id"), slug: made.at("data.slug") }
})

/** Runs due deliveries, as a cron does, until a state is reached. */
const delivering = <A, R>(description: string, ask: Effect.Effect<A, never, R>) =>
  eventually(description, Effect.andThen(api("POST", "/api/jobs/run?queue=webhooks&limit=100"), ask))

/** Makes every retry due, then runs them like `delivering`. */
const retrying = <A, R>(description: string, ask: Effect.Effect<A, never, R>) =>
  delivering(
    description,
    Effect.andThen(
      onDatabase((sql) =>
        sql`update commerce_jobs set wait_until = now() where queue = 'webhooks' and status = 'pending'
          and wait_until is not null`
      ),
      ask
    )
  )

const logOf = (id: string, as: typeof asAdmin) =>
  Effect.map(api("GET", `${webhooks}/${id}/deliveries?limit=100`, { as }), (log) => log.list("data"))

/** The rows of the log, once there are so many. */
const logged = (id: string, as: typeof asAdmin, count: number) =>
  delivering(`${count} attempts in the log`, Effect.map(logOf(id, as), (rows) => rows.length >= count && rows))

const isDelivered = (id: string, as: typeof asAdmin) =>
  Effect.map(logOf(id, as), (rows) => rows.find((row) => typeof at(row, "deliveredAt") === "string"))

const redeliver = (deliveryId: unknown, as: typeof asAdmin) =>
  api("POST", `${webhooks}/deliveries/${String(deliveryId)}/redeliver`, { as, body: {} })

/** Jobs of deliveries to an endpoint that have failed for good. */
const failedJobs = (id: string, as: typeof asAdmin) =>
  Effect.map(api("GET", "/api/admin/jobs/failed?limit=100", { as }), (list) => {
    const jobs = list.list("data").filter((job) => at(job, "input.endpointId") === id)
    return jobs.length > 0 && jobs
  })

/** Delivered attempts, attempts and first attempts, as this process has counted them until now. */
const counts = Effect.map(api("GET", "/api/metrics", { as: asAdmin }), ({ body }) =>
  [
    /stoa_webhook_attempts_total\{outcome="delivered"\} (\d+)/,
    /stoa_webhook_attempt_duration_seconds_count (\d+)/,
    /stoa_webhook_lag_seconds_count (\d+)/
  ].map((pattern) => Number(pattern.exec(String(body))?.[1] ?? 0)))

const onLoopback = layer(
  testAppLayer({ jobs: { autorun: { enabled: false } }, webhooks: { allowPrivateTargets: true } }),
  live
)

onLoopback("a delivery", (it) => {
  it.effect("a delivery posts the event with the record as the API shows it, and is logged, counted and sent again on request", () =>
    Effect.gen(function*() {
      const { as, id, receiver, secret } = yield* anEndpoint({ status: 200, body: `thanks ${"x".repeat(5_000)}` })
      const before = yield* counts
      const entity = yield* anEvent(as)
      const [row] = yield* logged(id, as, 1)
      const [first] = receiver.received
      if (first === undefined) return assert.fail("nothing was received")
      const sent = JSON.parse(first.body)
      assert.deepInclude(new Webhook(secret).verify(first.body, signedHeaders(first)), { type: "catalog.create" })
      assert.hasAllKeys(sent, ["id", "type", "timestamp", "data"])
      assert.match(sent.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepInclude(sent.data, { ...entity, organizationId: as.organizationId })
      assert.strictEqual(Number(first.headers["content-length"]), Buffer.byteLength(first.body))
      assert.deepInclude(row, {
        endpointId: id,
        organizationId: as.organizationId,
        webhookId: sent.id,
        eventName: "catalog.create",
        payload: sent,
        statusCode: 200,
        attemptCount: 1,
        nextRetryAt: null,
        failedAt: null,
        error: null
      })
      // At most 1 kB of the response is stored (contract §9.4).
      const text = JSON.stringify(row)
      assert.include(text, "thanks xxx")
      for (const hidden of ["x".repeat(1_025), secret]) assert.notInclude(text, hidden)

      const answer = yield* redeliver(at(row, "id"), as)
      assert.deepStrictEqual([answer.status, answer.at("data.webhookId")], [200, sent.id])
      yield* logged(id, as, 2)
      const [, second] = receiver.received
      assert.deepStrictEqual([second?.body, second?.headers["webhook-id"]], [first.body, sent.id])
      // The metrics are updated once a second.
      const more = (after: ReadonlyArray<number>) => after.map((count, n) => count - (before[n] ?? 0)).join()
      yield* eventually("counts of both", Effect.map(counts, (after) => more(after) === "2,2,1"))

      yield* api("PATCH", `${webhooks}/${id}`, { as, body: { isActive: false } })
      refused(yield* redeliver(at(row, "id"), as), 409, "CONFLICT")
      const outsider = yield* anOrganization
      refused(yield* redeliver(at(row, "id"), outsider), 404, "NOT_FOUND")
      refused(yield* api("GET", `${webhooks}/${id}/deliveries`, { as: outsider }), 404, "NOT_FOUND")
      assert.lengthOf(receiver.received, 2)
      return undefined
    }))

  it.effect("an event has the same id at every endpoint, and goes to their current addresses", () =>
    Effect.gen(function*() {
      const { as, id, receiver } = yield* anEndpoint()
      const [other, moved] = [yield* webhookReceiver(), yield* webhookReceiver()]
      yield* api("POST", webhooks, { as, body: { url: other.url, events: ["*"] } })
      yield* api("PATCH", `${webhooks}/${id}`, { as, body: { url: moved.url } })
      for (const _ of [1, 2]) yield* anEvent(as)
      const received = Effect.sync(() => moved.received.length === 2 && other.received.length === 2)
      yield* delivering("both events at both endpoints", received)
      const ids = [moved, other].map(({ received }) => received.map(({ headers }) => headers["webhook-id"]).toSorted())
      assert.deepStrictEqual(ids[0], ids[1])
      assert.strictEqual(new Set(ids[0]).size, 2)
      assert.deepStrictEqual(receiver.received, [])
    }))

  it.effect("deliveries are listed by page, newest first", () =>
    Effect.gen(function*() {
      const { as, id } = yield* anEndpoint()
      const entities: Array<string> = []
      for (const count of [1, 2, 3]) {
        entities.unshift((yield* anEvent(as)).id)
        yield* logged(id, as, count)
      }
      const page = (query: string) => api("GET", `${webhooks}/${id}/deliveries?${query}`, { as })
      const pages = [yield* page("limit=2"), yield* page("limit=2&page=2")]
      assert.deepStrictEqual(pages[1]?.at("meta.pagination"), { page: 2, limit: 2, total: 3, totalPages: 2 })
      const listed = pages.flatMap(({ list }) => list("data").map((row) => at(row, "payload.data.id")))
      assert.deepStrictEqual(listed, entities)
      const wide = yield* page("limit=999&page=x")
      assert.deepStrictEqual(wide.at("meta.pagination"), { page: 1, limit: 100, total: 3, totalPages: 1 })
    }))

  it.effect("a delivery fails unless the answer is 2xx, follows no redirect, and the log names the time of the retry", () =>
    Effect.gen(function*() {
      for (const status of [300, 302, 400, 401, 404, 429, 500, 503]) {
        const elsewhere = yield* webhookReceiver()
        const { as, id, receiver } = yield* anEndpoint({
          status,
          headers: { location: elsewhere.url },
          body: `answer ${status}`
        })
        const before = Date.now()
        yield* anEvent(as)
        const [row] = yield* logged(id, as, 1)
        assert.deepInclude(row, {
          statusCode: status,
          deliveredAt: null,
          attemptCount: 1,
          error: `The receiver answered ${status}.`,
          responseSnippet: `answer ${status}`
        })
        assert.isAbove(Date.parse(String(at(row, "nextRetryAt"))), before, String(status))
        assert.deepStrictEqual([receiver.received.length, elsewhere.connections()], [1, 0])
      }
    }))

  it.effect("a delivery is tried again with the same id and body until it arrives, also by hand", () =>
    Effect.gen(function*() {
      const { as, id, receiver, secret } = yield* anEndpoint()
      const reactions: Array<Reaction> = [{ status: 500 }, "reset", { status: 404 }, { status: 201 }]
      receiver.react(() => reactions.shift() ?? { status: 204 })
      yield* anEvent(as)
      const [failure] = yield* logged(id, as, 1)
      const row = yield* retrying("the fourth attempt", isDelivered(id, as))
      assert.deepInclude(row, { statusCode: 201, attemptCount: 4, nextRetryAt: null, failedAt: null })
      assert.strictEqual((yield* redeliver(at(failure, "id"), as)).status, 200)
      yield* logged(id, as, 5)
      const sent = receiver.received.map(({ body, headers }) => `${headers["webhook-id"]} ${body}`)
      assert.deepStrictEqual([sent.length, new Set(sent).size], [5, 1])
      for (const one of receiver.received) new Webhook(secret).verify(one.body, signedHeaders(one))
      assert.isFalse(yield* failedJobs(id, as))
    }))

  it.effect(
    "a delivery ends after ten attempts as a failed job, which contains no secret and can be retried",
    () =>
      Effect.gen(function*() {
        const { as, id, receiver, secret } = yield* anEndpoint({ status: 503 })
        yield* anEvent(as)
        const [job] = yield* retrying("the last attempt", failedJobs(id, as))
        const rows = yield* logOf(id, as)
        assert.deepStrictEqual([receiver.received.length, rows.length, at(rows[0], "attemptCount")], [10, 10, 10])
        assert.isString(at(rows[0], "failedAt"))
        assert.isNull(at(rows[0], "nextRetryAt"))
        const endpoint = yield* api("GET", `${webhooks}/${id}`, { as })
        assert.deepStrictEqual([endpoint.at("data.isActive"), typeof endpoint.at("data.failingSince")], [
          true,
          "string"
        ])
        const open = yield* onDatabase((sql) => sql`select 1 from webhook_dispatches where endpoint_id = ${id}::uuid`)
        assert.lengthOf(open, 0)
        assert.include(job, { taskSlug: "webhooks/deliver", queue: "webhooks", attempts: 10, maxAttempts: 10 })
        assert.hasAllKeys(at(job, "input"), ["endpointId", "eventId", "entityType", "entityId"])
        for (const hidden of [secret, secret.slice(6), receiver.url]) assert.notInclude(JSON.stringify(job), hidden)
        receiver.react({ status: 204 })
        const retried = yield* api("POST", `/api/admin/jobs/${String(at(job, "id"))}/retry`, { as })
        assert.deepStrictEqual([retried.status, retried.at("data.status")], [200, "pending"])
        yield* delivering("the delivery", isDelivered(id, as))
        assert.lengthOf(receiver.received, 11)
      })
  )

  it.effect("a test message is signed, says nothing about the store and ignores the events of the endpoint", () =>
    Effect.gen(function*() {
      const { as, id, receiver, secret } = yield* anEndpoint({ status: 204 }, ["orders.create"])
      const answer = yield* api("POST", `${webhooks}/${id}/test`, { as, body: {} })
      assert.deepStrictEqual([answer.status, answer.at("data.statusCode"), answer.at("data.error")], [200, 204, null])
      assert.notInclude(JSON.stringify(answer.body), secret)
      const [first] = receiver.received
      if (first === undefined) return assert.fail("nothing was received")
      new Webhook(secret).verify(first.body, signedHeaders(first))
      const sent = JSON.parse(first.body)
      assert.hasAllKeys(sent, ["id", "type", "timestamp", "data"])
      assert.deepStrictEqual([sent.type, sent.id], ["webhooks.test", first.headers["webhook-id"]])
      assert.deepStrictEqual(first.headers["x-commerce-event"], "webhooks.test")
      return undefined
    }))
})

const guarded = layer(testAppLayer({ jobs: { autorun: { enabled: false } } }), live)

guarded("a delivery to an address that has become internal", (it) => {
  it.effect("a delivery to an address that has become internal opens no connection and is logged", () =>
    Effect.gen(function*() {
      const receiver = yield* webhookReceiver()
      const as = yield* anOrganization
      for (const host of ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"]) {
        const made = yield* api("POST", webhooks, {
          as,
          body: { url: "https://93.184.216.34/", events: ["catalog.create"] }
        })
        const id = made.text("data.id")
        // As if the address of the name had changed after the registration.
        const url = `http://${host}:${receiver.port}/inside`
        yield* onDatabase((sql) => sql`update webhook_endpoints set url = ${url} where id = ${id}::uuid`)
        yield* anEvent(as)
        const [row] = yield* logged(id, as, 1)
        assert.isNull(at(row, "statusCode"), host)
        assert.match(String(at(row, "error")), /^The URL must not (lead to|name) an internal/, host)
        yield* api("DELETE", `${webhooks}/${id}`, { as })
      }
      assert.strictEqual(receiver.connections(), 0)
    }))
})
