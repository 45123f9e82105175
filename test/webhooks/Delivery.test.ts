import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { createHmac } from "node:crypto"
import { Webhook } from "standardwebhooks"
import { Tasks } from "../../src/domain/platform/tasks/Task.ts"
import { WebhookDeliveryRepo } from "../../src/domain/webhooks/WebhookRepo.ts"
import { Webhooks } from "../../src/domain/webhooks/Webhooks.ts"
import { backoffAfter } from "../../src/layers/jobs/TaskRuns.ts"
import { waitFor } from "../support/waitFor.ts"
import { type Received, type WebhookReceiver, webhookReceiver } from "../support/WebhookReceiver.ts"
import { JobsDouble, runJob, runPending, runRetries } from "./JobsDouble.ts"
import {
  anEndpoint,
  anEvent,
  anOrganization,
  inside,
  onlyEndpoint,
  relay,
  signedHeaders,
  webhookWorld
} from "./WebhookWorld.ts"

const page = { page: 1, limit: 20 }

/** An endpoint whose receiver has answered a first attempt with this status and continues to. */
const answeredWith = Effect.fnUntraced(function*(status: number) {
  const made = yield* onlyEndpoint()
  made.receiver.react({ status })
  yield* relay([anEvent()])
  yield* runPending
  return made
})

const only = ({ received }: WebhookReceiver): Received => {
  assert.lengthOf(received, 1)
  const [first] = received
  if (first === undefined) throw new Error("nothing was received")
  return first
}

const verify = (secret: string, received: Received) =>
  new Webhook(secret).verify(received.body, signedHeaders(received))

const shift = (id: string, days: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`update webhook_endpoints set failing_since = failing_since - make_interval(days => ${days})
      where id = ${id}::uuid`
  )

const open = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => Effect.map(sql<{ n: number }>`select count(*)::int4 as n from webhook_dispatches`, ([row]) => row?.n)
)

it.layer(webhookWorld(), { excludeTestServices: true })("a delivery", (it) => {
  it.effect("a delivery has the body and headers of the contract and a signature that others verify", () =>
    Effect.gen(function*() {
      const { endpoint, receiver } = yield* onlyEndpoint()
      const event = anEvent()
      const before = Math.floor(Date.now() / 1_000)
      yield* relay([event])
      yield* runPending
      const request = only(receiver)
      const after = Math.floor(Date.now() / 1_000)
      assert.deepStrictEqual(JSON.parse(request.body), {
        id: `evt_${event.id}`,
        type: "orders.create",
        timestamp: "2026-11-21T10:00:00.123Z",
        data: event.data
      })
      assert.deepStrictEqual(verify(endpoint.secret, request), JSON.parse(request.body))
      assert.throws(() => verify(endpoint.secret, { ...request, body: `${request.body} ` }))
      const { headers } = request
      assert.strictEqual(headers["content-type"], "application/json")
      assert.strictEqual(headers["webhook-id"], `evt_${event.id}`)
      const sentAt = Number(headers["webhook-timestamp"])
      assert.isTrue(sentAt >= before && sentAt <= after, String(sentAt))
      assert.strictEqual(headers["x-commerce-event"], "orders.create")
      assert.strictEqual(
        headers["x-commerce-signature"],
        createHmac("sha256", endpoint.secret).update(request.body).digest("hex")
      )
      assert.strictEqual(yield* open, 0)
    }))

  it.effect("a delivery is signed with the bytes of a client's secret", () =>
    Effect.gen(function*() {
      const { receiver } = yield* onlyEndpoint("sixteen letters!")
      yield* relay([anEvent()])
      yield* runPending
      const received = only(receiver)
      new Webhook("sixteen letters!", { format: "raw" }).verify(received.body, signedHeaders(received))
    }))

  it.effect("a delivery is signed with both secrets after a rotation, until the previous one expires", () =>
    Effect.gen(function*() {
      const { endpoint, receiver } = yield* onlyEndpoint()
      const rotated = yield* (yield* Webhooks).rotateSecret(endpoint.id, undefined)
      yield* relay([anEvent()])
      yield* runPending
      const during = only(receiver)
      verify(endpoint.secret, during)
      verify(rotated.secret, during)
      const sql = yield* SqlClient.SqlClient
      yield* sql`update webhook_endpoints set previous_secret_until = now() where id = ${endpoint.id}::uuid`
      yield* relay([anEvent()])
      yield* runPending
      const [, after] = receiver.received
      if (after === undefined) return assert.fail("the second one did not arrive")
      verify(rotated.secret, after)
      assert.throws(() => verify(endpoint.secret, after))
      return undefined
    }))

  it.effect("a job contains ids only, and the database contains no readable secret", () =>
    Effect.gen(function*() {
      const { endpoint } = yield* onlyEndpoint()
      yield* relay([anEvent()])
      const { jobs } = yield* JobsDouble
      assert.deepStrictEqual(jobs.map(({ input }) => Object.keys(input).sort()), [
        ["endpointId", "entityId", "entityType", "eventId"]
      ])
      assert.deepStrictEqual(jobs.map(({ options }) => options.queue), ["webhooks"])
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`select (select string_agg(e::text, ' ') from webhook_endpoints e) as endpoints,
        (select string_agg(o::text, ' ') from outbox_events o) as changes`
      assert.notInclude(JSON.stringify(rows), endpoint.secret)
      assert.notInclude(JSON.stringify(rows), endpoint.secret.slice("whsec_".length))
    }))

  it.effect("a 410 switches nothing off if the endpoint has a new address meanwhile, and the delivery is tried there", () =>
    Effect.gen(function*() {
      const { endpoint, receiver } = yield* onlyEndpoint()
      const elsewhere = yield* webhookReceiver()
      const answer = receiver.hold(410)
      yield* relay([anEvent()])
      const running = yield* Effect.forkChild(runPending)
      yield* Effect.promise(() => waitFor("the request", () => receiver.received.length === 1))
      yield* (yield* Webhooks).change(endpoint.id, { url: elsewhere.url })
      answer()
      yield* Fiber.join(running)
      assert.isTrue((yield* (yield* Webhooks).get(endpoint.id)).isActive)
      yield* runRetries
      assert.lengthOf(elsewhere.received, 1)
    }))

  it.effect("a 410 switches the endpoint off, and the delivery is not tried again", () =>
    Effect.gen(function*() {
      const { endpoint, receiver } = yield* onlyEndpoint()
      receiver.react({ status: 410 })
      yield* relay([anEvent(), anEvent()])
      yield* runPending
      assert.lengthOf(receiver.received, 1)
      assert.sameMembers((yield* JobsDouble).jobs.map(({ state }) => state), ["failed", "done"])
      const after = yield* (yield* Webhooks).get(endpoint.id)
      assert.deepStrictEqual([after.isActive, after.disabledReason], [false, "gone"])
      const { items } = yield* (yield* Webhooks).deliveries(endpoint.id, page)
      assert.deepStrictEqual(items.map(({ nextRetryAt, statusCode }) => [statusCode, nextRetryAt]), [[410, null]])
      assert.strictEqual(yield* open, 0)
      yield* relay([anEvent()])
      assert.lengthOf((yield* JobsDouble).jobs, 2)
    }))

  it.effect("an endpoint that fails for five days is switched off with an entry in the change log", () =>
    Effect.gen(function*() {
      const { endpoint } = yield* answeredWith(500)
      yield* shift(endpoint.id, 4)
      yield* runRetries
      assert.isTrue((yield* (yield* Webhooks).get(endpoint.id)).isActive)
      yield* shift(endpoint.id, 1)
      yield* runRetries
      const after = yield* (yield* Webhooks).get(endpoint.id)
      assert.deepStrictEqual([after.isActive, after.disabledReason], [false, "failing"])
      const sql = yield* SqlClient.SqlClient
      const changeLog = yield* sql<{ type: string }>`select type from outbox_events where entity_id = ${endpoint.id}
        and entity_type = 'webhook_endpoint' order by created_at, id`
      assert.deepStrictEqual(changeLog.map(({ type }) => type), ["webhooks.create", "webhooks.disable"])
    }))

  it.effect("a success ends the series of failures of an endpoint", () =>
    Effect.gen(function*() {
      const { endpoint, receiver } = yield* answeredWith(500)
      yield* shift(endpoint.id, 6)
      receiver.react({ status: 200 })
      yield* runRetries
      receiver.react({ status: 500 })
      const before = Date.now()
      yield* relay([anEvent()])
      yield* runPending
      const after = yield* (yield* Webhooks).get(endpoint.id)
      assert.isTrue(after.isActive)
      assert.isAtLeast(after.failingSince?.getTime() ?? 0, before)
    }))

  it.effect("a delivery to an endpoint that was deleted meanwhile is not sent, and its job succeeds", () =>
    Effect.gen(function*() {
      const { endpoint, receiver } = yield* onlyEndpoint()
      yield* relay([anEvent()])
      yield* (yield* Webhooks).remove(endpoint.id)
      yield* runPending
      assert.strictEqual(receiver.connections(), 0)
      const { jobs } = yield* JobsDouble
      assert.deepStrictEqual(jobs.map(({ output, state }) => [state, output]), [
        ["done", { skipped: "the endpoint is gone" }]
      ])
    }))

  it.effect("a delivery whose endpoint is deleted during the attempt has no second attempt", () =>
    Effect.gen(function*() {
      const { endpoint, receiver } = yield* onlyEndpoint()
      receiver.react("hang")
      yield* relay([anEvent()])
      const [job] = (yield* JobsDouble).jobs
      if (job === undefined) return assert.fail("nothing was enqueued")
      const running = yield* Effect.forkChild(runJob(job))
      yield* Effect.promise(() => waitFor("the request", () => receiver.received.length === 1))
      yield* (yield* Webhooks).remove(endpoint.id)
      receiver.hangUp()
      yield* Fiber.join(running)
      assert.strictEqual(job.state, "retrying")
      yield* runRetries
      assert.lengthOf(receiver.received, 1)
      assert.deepStrictEqual((yield* JobsDouble).jobs.map(({ state }) => state), ["done"])
      return undefined
    }))

  it.effect("a delivery to an endpoint that is switched off is not sent", () =>
    Effect.gen(function*() {
      const { endpoint, receiver } = yield* onlyEndpoint()
      yield* relay([anEvent()])
      yield* (yield* Webhooks).change(endpoint.id, { isActive: false })
      yield* runPending
      assert.strictEqual(receiver.connections(), 0)
      assert.strictEqual(yield* open, 0)
    }))

  it.effect("a delivered event is not sent again by a retry of its job", () =>
    Effect.gen(function*() {
      const { receiver } = yield* onlyEndpoint()
      yield* relay([anEvent({ timestamp: new Date() })])
      yield* runPending
      const [job] = (yield* JobsDouble).jobs
      if (job === undefined) return assert.fail("nothing was enqueued")
      yield* runJob(job)
      assert.deepStrictEqual(job.output, { skipped: "it was delivered before" })
      assert.lengthOf(receiver.received, 1)
      return undefined
    }))
})

it.layer(webhookWorld(), { excludeTestServices: true })("a test of an endpoint", (it) => {
  it.effect("a test of an endpoint is refused beside four others of its organization until they end", () =>
    Effect.gen(function*() {
      const webhooks = yield* Webhooks
      const { endpoint, receiver } = yield* anEndpoint()
      receiver.react("hang")
      const running = yield* Effect.forEach([1, 2, 3, 4], () => Effect.forkChild(webhooks.test(endpoint.id)))
      yield* Effect.promise(() => waitFor("four tests", () => receiver.received.length === 4))
      assert.strictEqual((yield* Effect.flip(webhooks.test(endpoint.id)))._tag, "Unavailable")
      yield* anOrganization("org_other")
      const other = yield* inside("org_other")(webhooks.register({ url: "http://127.0.0.1:9/", events: ["*"] }))
      assert.isNotNull((yield* inside("org_other")(webhooks.test(other.id))).error)
      receiver.hangUp()
      receiver.react({ status: 200 })
      for (const fiber of running) assert.isNotNull((yield* Fiber.join(fiber)).error)
      assert.isNull((yield* webhooks.test(endpoint.id)).error)
    }))
})

const impatient = { baseSeconds: 10, factor: 3, maxSeconds: 25, jitter: 0 }

it.layer(webhookWorld({ backoff: impatient }), { excludeTestServices: true })("the waits of a delivery", (it) => {
  it.effect("the waits of a delivery are those of the deployment, in its log and in the queue", () =>
    Effect.gen(function*() {
      const { endpoint, receiver } = yield* anEndpoint()
      receiver.react({ status: 500 })
      yield* relay([anEvent()])
      yield* runPending
      yield* runRetries
      const { items } = yield* (yield* Webhooks).deliveries(endpoint.id, page)
      const waits = items.map(({ failedAt, nextRetryAt }) => (nextRetryAt?.getTime() ?? 0) - (failedAt?.getTime() ?? 0))
      assert.deepStrictEqual(waits, [25_000, 10_000])
      const retries = (yield* Tasks).find("webhooks/deliver")?.retries
      assert.deepStrictEqual([1, 2, 3].map((tries) => backoffAfter(retries, tries, 0)), [10_000, 25_000, 25_000])
    }))
})

const left = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ deliveries: number; messages: number }>`select (select count(*)::int4 from webhook_deliveries) as deliveries,
      (select count(*)::int4 from webhook_messages) as messages`,
    ([row]) => [row?.deliveries, row?.messages]
  ))

it.layer(webhookWorld(), { excludeTestServices: true })("what was delivered", (it) => {
  it.effect("the purge deletes old attempts and messages by batches, also of deleted endpoints, and keeps recent ones", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { purge } = yield* WebhookDeliveryRepo
      const webhooks = yield* Webhooks
      const { id } = yield* webhooks.register({ url: "http://127.0.0.1:9/", events: ["*"] })
      yield* relay([anEvent(), anEvent(), anEvent()])
      yield* runPending
      yield* webhooks.remove(id)
      assert.strictEqual(yield* purge(30, 2), 0)
      yield* sql`update webhook_deliveries set created_at = now() - interval '31 days'`
      yield* sql`update webhook_messages set created_at = now() - interval '31 days'`
      yield* webhooks.register({ url: "http://127.0.0.1:9/", events: ["*"] })
      yield* relay([anEvent()])
      yield* runPending
      assert.deepStrictEqual(yield* left, [4, 4])
      assert.strictEqual(yield* purge(30, 2), 2)
      assert.strictEqual(yield* purge(30, 2), 1)
      assert.strictEqual(yield* purge(30, 2), 0)
      assert.deepStrictEqual(yield* left, [1, 1])
    }))
})
