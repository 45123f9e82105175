import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { createHmac } from "node:crypto"
import { Webhook } from "standardwebhooks"
import { Tasks } from "../../src/domain/jobs/Task.ts"
import { WebhookDeliveryRepo } from "../../src/domain/webhooks/WebhookDeliveryRepo.ts"
import { Webhooks } from "../../src/domain/webhooks/Webhooks.ts"
import { backoffAfter } from "../../src/layers/jobs/TaskRuns.ts"
import { waitFor } from "../support/waitFor.ts"
import { type Received, type WebhookReceiver, webhookReceiver } from "../support/WebhookReceiver.ts"
import { JobsDouble, runJob, runPending, runRetries } from "./JobsDouble.ts"
import { anEvent, anOrganization, inside, relay, webhookWorld } from "./WebhookWorld.ts"

const page = { page: 1, limit: 20 }

/** An endpoint of a new receiver that wants everything. */
const anEndpoint = Effect.fnUntraced(function*(secret?: string) {
  const receiver = yield* webhookReceiver()
  const endpoint = yield* (yield* Webhooks).register({ url: receiver.url, events: ["*"], secret })
  return { receiver, endpoint }
})

/** Deletes what earlier tests registered, so that every event has one endpoint. */
const alone = Effect.gen(function*() {
  const webhooks = yield* Webhooks
  const { items } = yield* webhooks.list({ page: 1, limit: 100 })
  for (const { id } of items) yield* webhooks.remove(id)
  ;(yield* JobsDouble).jobs.length = 0
})

/** An endpoint of its own, whose receiver has answered a first attempt with this status and goes on to do so. */
const answeredWith = Effect.fnUntraced(function*(status: number) {
  yield* alone
  const made = yield* anEndpoint()
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

const signed = (headers: Received["headers"]) => ({
  "webhook-id": String(headers["webhook-id"]),
  "webhook-timestamp": String(headers["webhook-timestamp"]),
  "webhook-signature": String(headers["webhook-signature"])
})

const verify = (secret: string, { body, headers }: Received) => new Webhook(secret).verify(body, signed(headers))

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
  it.effect("is what the contract says, and its signature is one that others verify", () =>
    Effect.gen(function*() {
      yield* alone
      const { endpoint, receiver } = yield* anEndpoint()
      const event = anEvent()
      yield* relay([event])
      yield* runPending
      const request = only(receiver)
      assert.deepStrictEqual(JSON.parse(request.body), {
        id: `evt_${event.id}`,
        type: "orders.create",
        timestamp: "2026-11-21T10:00:00.123Z",
        data: event.payload
      })
      assert.deepStrictEqual(verify(endpoint.secret, request), JSON.parse(request.body))
      assert.throws(() => verify(endpoint.secret, { ...request, body: `${request.body} ` }))
      const { headers } = request
      assert.strictEqual(headers["content-type"], "application/json")
      assert.strictEqual(headers["webhook-id"], `evt_${event.id}`)
      assert.isBelow(Math.abs(Number(headers["webhook-timestamp"]) - Date.now() / 1000), 5)
      assert.strictEqual(headers["x-commerce-event"], "orders.create")
      assert.strictEqual(
        headers["x-commerce-signature"],
        createHmac("sha256", endpoint.secret).update(request.body).digest("hex")
      )
      assert.strictEqual(yield* open, 0)
    }))

  it.effect("is signed with the bytes of a secret that is the client's own", () =>
    Effect.gen(function*() {
      yield* alone
      const { receiver } = yield* anEndpoint("sixteen letters!")
      yield* relay([anEvent()])
      yield* runPending
      const { body, headers } = only(receiver)
      new Webhook("sixteen letters!", { format: "raw" }).verify(body, signed(headers))
    }))

  it.effect("is signed with both secrets after a rotation, and with one once its time is over", () =>
    Effect.gen(function*() {
      yield* alone
      const { endpoint, receiver } = yield* anEndpoint()
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

  it.effect("holds nothing of the endpoint or the event in its job, and no secret lies open in the database", () =>
    Effect.gen(function*() {
      yield* alone
      const { endpoint } = yield* anEndpoint()
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

  it.effect("that fails comes again with the same id and the same bytes, and a new timestamp signed", () =>
    Effect.gen(function*() {
      yield* alone
      const { endpoint, receiver } = yield* anEndpoint()
      receiver.react({ status: 500, body: "out of order" })
      yield* relay([anEvent()])
      yield* runPending
      receiver.react({ status: 200 })
      yield* runRetries
      const [first, second] = receiver.received
      if (first === undefined || second === undefined) return assert.fail("there were no two attempts")
      assert.strictEqual(second.body, first.body)
      assert.strictEqual(second.headers["webhook-id"], first.headers["webhook-id"])
      verify(endpoint.secret, second)
      const { items } = yield* (yield* Webhooks).deliveries(endpoint.id, page)
      const recorded = items.map((one) => [
        one.attemptCount,
        one.statusCode,
        one.error,
        one.responseSnippet,
        one.nextRetryAt === null
      ])
      assert.deepStrictEqual(recorded, [
        [2, 200, null, "", true],
        [1, 500, "The receiver answered 500.", "out of order", false]
      ])
      return undefined
    }))

  it.effect("is given up after ten attempts, and the endpoint stays on", () =>
    Effect.gen(function*() {
      const { endpoint, receiver } = yield* answeredWith(503)
      for (let turn = 0; turn < 12; turn++) yield* runRetries
      assert.lengthOf(receiver.received, 10)
      assert.deepStrictEqual((yield* JobsDouble).jobs.map(({ state }) => state), ["failed"])
      assert.strictEqual(yield* open, 0)
      const after = yield* (yield* Webhooks).get(endpoint.id)
      assert.isTrue(after.isActive)
      assert.isNotNull(after.failingSince)
    }))

  it.effect("answered with 410 switches nothing off when the endpoint was sent elsewhere meanwhile, and is tried there", () =>
    Effect.gen(function*() {
      yield* alone
      const { endpoint, receiver } = yield* anEndpoint()
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

  it.effect("answered with 410 switches the endpoint off and is not tried again", () =>
    Effect.gen(function*() {
      yield* alone
      const { endpoint, receiver } = yield* anEndpoint()
      receiver.react({ status: 410 })
      yield* relay([anEvent(), anEvent()])
      yield* runPending
      assert.lengthOf(receiver.received, 1)
      assert.sameMembers((yield* JobsDouble).jobs.map(({ state }) => state), ["failed", "done"])
      const after = yield* (yield* Webhooks).get(endpoint.id)
      assert.deepStrictEqual([after.isActive, after.disabledReason], [false, "gone"])
      assert.strictEqual(yield* open, 0)
      yield* relay([anEvent()])
      assert.lengthOf((yield* JobsDouble).jobs, 2)
    }))

  it.effect("fails for five days and the endpoint is switched off with an entry in the change log", () =>
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

  it.effect("that succeeds ends the row of failures", () =>
    Effect.gen(function*() {
      const { endpoint, receiver } = yield* answeredWith(500)
      yield* shift(endpoint.id, 6)
      receiver.react({ status: 200 })
      yield* runRetries
      receiver.react({ status: 500 })
      yield* relay([anEvent()])
      yield* runPending
      const after = yield* (yield* Webhooks).get(endpoint.id)
      assert.isTrue(after.isActive)
      assert.isAbove(after.failingSince?.getTime() ?? 0, Date.now() - 60_000)
    }))

  it.effect("to an endpoint that was deleted meanwhile is not sent, and ends well", () =>
    Effect.gen(function*() {
      yield* alone
      const { endpoint, receiver } = yield* anEndpoint()
      yield* relay([anEvent()])
      yield* (yield* Webhooks).remove(endpoint.id)
      yield* runPending
      assert.strictEqual(receiver.connections(), 0)
      const { jobs } = yield* JobsDouble
      assert.deepStrictEqual(jobs.map(({ output, state }) => [state, output]), [
        ["done", { skipped: "the endpoint is gone" }]
      ])
    }))

  it.effect("whose endpoint is deleted while it is under way ends without a second one", () =>
    Effect.gen(function*() {
      yield* alone
      const { endpoint, receiver } = yield* anEndpoint()
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

  it.effect("to an endpoint that is switched off is not sent", () =>
    Effect.gen(function*() {
      yield* alone
      const { endpoint, receiver } = yield* anEndpoint()
      yield* relay([anEvent()])
      yield* (yield* Webhooks).change(endpoint.id, { isActive: false })
      yield* runPending
      assert.strictEqual(receiver.connections(), 0)
      assert.strictEqual(yield* open, 0)
    }))

  it.effect("that was made can be made again, with the same id and body", () =>
    Effect.gen(function*() {
      const { endpoint, receiver } = yield* answeredWith(204)
      const webhooks = yield* Webhooks
      const { items: [delivery] } = yield* webhooks.deliveries(endpoint.id, page)
      if (delivery === undefined) return assert.fail("the delivery is not in the log")
      const { find } = yield* WebhookDeliveryRepo
      assert.isUndefined(yield* inside("org_other")(find(delivery.id)), "it is nobody else's")
      yield* webhooks.redeliver(delivery.id)
      yield* runPending
      const [first, second] = receiver.received
      assert.strictEqual(second?.body, first?.body)
      assert.strictEqual(second?.headers["webhook-id"], first?.headers["webhook-id"])
      assert.isDefined(second)
      return undefined
    }))

  it.effect("that arrived is not made again by a job that failed and is retried by hand", () =>
    Effect.gen(function*() {
      yield* alone
      const { receiver } = yield* anEndpoint()
      yield* relay([anEvent({ createdAt: new Date() })])
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
  it.effect("is refused beside four others of its organization, until they have left", () =>
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
  it.effect("are what the deployment says, in its log as in the queue", () =>
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
