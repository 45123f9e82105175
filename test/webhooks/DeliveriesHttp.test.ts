import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { anOrganization } from "../support/Organizations.ts"
import {
  isSignedWith,
  plainSignature,
  type ScriptedReceiver,
  standardSignature,
  startReceiver
} from "../support/ScriptedReceiver.ts"
import { api, asAdmin, at } from "../support/TestApp.ts"
import { anEndpoint, anEvent, aSecret, delivering, logOfEvent, retrying, toLoopback, webhooks } from "./Endpoints.ts"

const withDeliveries = toLoopback()

/** The first request that came to a path about a record, once it came. */
const firstAbout = (receiver: ScriptedReceiver, path: string, recordId: string) =>
  delivering(
    `a delivery to ${path}`,
    Effect.sync(() => receiver.received(path).find((one) => one.at("data.id") === recordId))
  )

/** How many requests came to a path about a record. */
const countAbout = (receiver: ScriptedReceiver, path: string, recordId: string) =>
  receiver.received(path).filter((one) => one.at("data.id") === recordId).length

const isDelivered = (endpointId: string, webhookId: unknown, as: typeof asAdmin = asAdmin) =>
  Effect.map(
    logOfEvent(endpointId, webhookId, as),
    (rows) => rows.find((row) => typeof at(row, "deliveredAt") === "string")
  )

/** Deliveries of an organization that wait or are under way; the columns are the specification's (§2). */
const waitingOf = ({ organizationId }: { readonly organizationId: string }) =>
  Effect.map(
    onDatabase((sql) =>
      sql<{ count: number }>`select count(*)::int4 as count from commerce_jobs where queue = 'webhooks'
        and organization_id = ${organizationId} and status in ('pending', 'processing')`
    ),
    ([row]) => row?.count ?? -1
  )

const redeliver = (deliveryId: unknown, as: typeof asAdmin = asAdmin) =>
  api("POST", `${webhooks}/deliveries/${String(deliveryId)}/redeliver`, { as, body: {} })

withDeliveries("deliveries", (it) => {
  describe("a request", () => {
    it.effect("is a POST of the event in its envelope, with the record as the API shows it", () =>
      Effect.gen(function*() {
        const receiver = yield* startReceiver
        yield* anEndpoint(`${receiver.url}/hook?shop=1`)
        const { id, record } = yield* anEvent()
        const one = yield* firstAbout(receiver, "/hook?shop=1", id)
        assert.strictEqual(one.method, "POST")
        assert.match(one.headers["content-type"] ?? "", /^application\/json(;|$)/)
        assert.strictEqual(Number(one.headers["content-length"]), Buffer.byteLength(one.raw))
        assert.sameMembers(Object.keys(JSON.parse(one.raw)), ["id", "type", "timestamp", "data"])
        assert.match(String(one.at("id")), /^evt_./)
        assert.strictEqual(one.at("type"), "catalog.create")
        assert.match(String(one.at("timestamp")), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        assert.deepInclude(one.at("data"), { id, organizationId: "org_default", slug: at(record, "slug") })
        assert.strictEqual(one.headers["webhook-id"], one.at("id"))
        assert.match(one.headers["webhook-timestamp"] ?? "", /^\d{10}$/)
        assert.isAtMost(Math.abs(Number(one.headers["webhook-timestamp"]) - one.receivedAt / 1_000), 60)
        assert.strictEqual(one.headers["x-commerce-event"], "catalog.create")
      }))

    it.effect("is signed both ways over the bytes that come, for each form of a secret", () =>
      Effect.gen(function*() {
        const receiver = yield* startReceiver
        const secrets = [undefined, aSecret(24), aSecret(64), "a secret of the client's own, ü"]
        for (const [nth, wanted] of secrets.entries()) {
          const path = `/signed-${nth}`
          const body = wanted === undefined ? {} : { secret: wanted }
          const { secret } = yield* anEndpoint(receiver.url + path, ["catalog.create"], body)
          const one = yield* firstAbout(receiver, path, (yield* anEvent()).id)
          assert.strictEqual(one.headers["webhook-signature"], standardSignature(one, secret))
          assert.strictEqual(one.headers["x-commerce-signature"], plainSignature(one, secret))
          assert.isFalse(isSignedWith(one, aSecret(32)))
        }
      }))

    it.effect("is signed with the old secret beside the new one after a rotation", () =>
      Effect.gen(function*() {
        const receiver = yield* startReceiver
        const { id, secret: old } = yield* anEndpoint(`${receiver.url}/rotated`)
        const rotated = yield* api("POST", `${webhooks}/${id}/rotate-secret`, { as: asAdmin, body: {} })
        const one = yield* firstAbout(receiver, "/rotated", (yield* anEvent()).id)
        assert.strictEqual((one.headers["webhook-signature"] ?? "").split(" ").length, 2)
        assert.isTrue(isSignedWith(one, old))
        assert.isTrue(isSignedWith(one, rotated.text("data.secret")))
        assert.strictEqual(one.headers["x-commerce-signature"], plainSignature(one, rotated.text("data.secret")))
      }))
  })

  describe("what is sent to whom", () => {
    it.effect("each endpoint gets the events it asked for, once, and none of another organization", () =>
      Effect.gen(function*() {
        const receiver = yield* startReceiver
        const outsider = yield* anOrganization
        yield* anEndpoint(`${receiver.url}/all`)
        yield* anEndpoint(`${receiver.url}/creations`, ["catalog.create"])
        yield* anEndpoint(`${receiver.url}/changes`, ["catalog.update", "catalog.delete"])
        yield* anEndpoint(`${receiver.url}/stranger`, ["*"], {}, outsider)
        const { id } = yield* anEvent()
        yield* api("POST", `/api/catalog/entities/${id}/publish`, { as: asAdmin })
        yield* api("DELETE", `/api/catalog/entities/${id}`, { as: asAdmin })
        const theirs = yield* anEvent(outsider)
        yield* firstAbout(receiver, "/stranger", theirs.id)
        const typesAt = (path: string) =>
          receiver.received(path).filter((one) => one.at("data.id") === id).map((one) => String(one.at("type"))).sort()
        yield* delivering("all", Effect.sync(() => typesAt("/all").length + typesAt("/changes").length === 5))
        yield* firstAbout(receiver, "/creations", id)
        assert.deepStrictEqual(["/all", "/creations", "/changes", "/stranger"].map(typesAt), [
          ["catalog.create", "catalog.delete", "catalog.update"],
          ["catalog.create"],
          ["catalog.delete", "catalog.update"],
          []
        ])
        assert.strictEqual(countAbout(receiver, "/all", theirs.id), 0)
      }))

    it.effect("one event has one id, at whichever endpoint; two events have two", () =>
      Effect.gen(function*() {
        const receiver = yield* startReceiver
        yield* anEndpoint(`${receiver.url}/a`)
        yield* anEndpoint(`${receiver.url}/b`)
        const [first, second] = [yield* anEvent(), yield* anEvent()]
        const ids = yield* Effect.forEach(
          [["/a", first.id], ["/b", first.id], ["/a", second.id]] as const,
          ([path, id]) => Effect.map(firstAbout(receiver, path, id), (one) => one.headers["webhook-id"])
        )
        assert.strictEqual(ids[0], ids[1])
        assert.notStrictEqual(ids[0], ids[2])
      }))

    it.effect("an endpoint that is switched off, or was deleted meanwhile, is not called", () =>
      Effect.gen(function*() {
        const receiver = yield* startReceiver
        const as = yield* anOrganization
        const registered = (path: string) => anEndpoint(receiver.url + path, ["*"], {}, as)
        const [off, gone] = [yield* registered("/off"), yield* registered("/gone")]
        yield* registered("/on")
        receiver.reply("/off", { status: 500 })
        receiver.reply("/gone", { status: 500 })
        const { id } = yield* anEvent(as)
        // Both have a delivery that waits for another try when they end.
        yield* firstAbout(receiver, "/off", id)
        yield* firstAbout(receiver, "/gone", id)
        yield* api("PATCH", `${webhooks}/${off.id}`, { as, body: { isActive: false } })
        const deleted = yield* api("DELETE", `${webhooks}/${gone.id}`, { as })
        assert.deepStrictEqual([deleted.status, deleted.at("data")], [200, { deleted: true }])
        const before = ["/off", "/gone"].map((path) => receiver.received(path).length)
        const later = yield* anEvent(as)
        yield* retrying("the one that is on", Effect.sync(() => countAbout(receiver, "/on", later.id) === 1))
        yield* retrying("nothing to wait any more", Effect.map(waitingOf(as), (jobs) => jobs === 0))
        assert.deepStrictEqual(["/off", "/gone"].map((path) => receiver.received(path).length), before)
      }))

    it.effect("an address that is changed is the one that is called from then on", () =>
      Effect.gen(function*() {
        const receiver = yield* startReceiver
        const { id } = yield* anEndpoint(`${receiver.url}/before`)
        yield* api("PATCH", `${webhooks}/${id}`, { as: asAdmin, body: { url: `${receiver.url}/after` } })
        yield* firstAbout(receiver, "/after", (yield* anEvent()).id)
        assert.deepStrictEqual(receiver.received("/before"), [])
      }))
  })

  describe("POST /api/webhooks/:id/test", () => {
    it.effect("sends a signed request about nothing of the store, whatever the endpoint listens to", () =>
      Effect.gen(function*() {
        const receiver = yield* startReceiver
        const { id, secret } = yield* anEndpoint(`${receiver.url}/ping`, ["orders.create"])
        const answer = yield* api("POST", `${webhooks}/${id}/test`, { as: asAdmin, body: {} })
        assert.strictEqual(answer.status, 200)
        const one = yield* delivering("the test to arrive", Effect.sync(() => receiver.received("/ping")[0]))
        assert.isTrue(isSignedWith(one, secret))
        assert.sameMembers(Object.keys(JSON.parse(one.raw)), ["id", "type", "timestamp", "data"])
        assert.strictEqual(one.headers["webhook-id"], one.at("id"))
        assert.notMatch(
          String(one.at("type")),
          /^(orders|catalog|inventory|customers|pricing|promotions|fulfillment|cart)\./
        )
        assert.notInclude(JSON.stringify(answer.body), secret)
      }))
  })

  describe("GET /api/webhooks/:id/deliveries", () => {
    it.effect("tells what was sent, what came back and when", () =>
      Effect.gen(function*() {
        const receiver = yield* startReceiver
        receiver.reply("/log", { status: 200, body: `thanks ${"x".repeat(5_000)}` })
        const { id, secret } = yield* anEndpoint(`${receiver.url}/log`, ["catalog.create"])
        const entity = yield* anEvent()
        const one = yield* firstAbout(receiver, "/log", entity.id)
        const row = yield* delivering("the log", isDelivered(id, one.at("id")))
        assert.deepInclude(row, {
          endpointId: id,
          organizationId: "org_default",
          webhookId: one.at("id"),
          eventName: "catalog.create",
          statusCode: 200,
          attemptCount: 1,
          nextRetryAt: null,
          failedAt: null,
          error: null
        })
        for (const time of ["createdAt", "deliveredAt"]) {
          assert.match(String(at(row, time)), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        }
        assert.isAtLeast(Number(at(row, "durationMs")), 0)
        assert.deepStrictEqual(at(row, "payload"), JSON.parse(one.raw))
        // The answer is kept as far as it helps: at most 1 kB (contract §9.4).
        assert.include(JSON.stringify(row), "thanks xxx")
        assert.notInclude(JSON.stringify(row), "x".repeat(1_025))
        assert.notInclude(JSON.stringify(row), secret)
      }))

    it.effect("is paged, the newest first", () =>
      Effect.gen(function*() {
        const receiver = yield* startReceiver
        const { id } = yield* anEndpoint(`${receiver.url}/paged`, ["catalog.create"])
        const entities: Array<string> = []
        for (const _ of [1, 2, 3]) {
          const entity = yield* anEvent()
          const one = yield* firstAbout(receiver, "/paged", entity.id)
          yield* delivering("the log", isDelivered(id, one.at("id")))
          entities.unshift(entity.id)
        }
        const pages = [
          yield* api("GET", `${webhooks}/${id}/deliveries?limit=2`, { as: asAdmin }),
          yield* api("GET", `${webhooks}/${id}/deliveries?limit=2&page=2`, { as: asAdmin })
        ]
        assert.deepStrictEqual(pages[1]?.at("meta.pagination"), { page: 2, limit: 2, total: 3, totalPages: 2 })
        const payloads = pages.flatMap((page) => page.list("data").map((row) => JSON.stringify(at(row, "payload"))))
        assert.deepStrictEqual(payloads.map((text) => entities.find((entity) => text.includes(entity))), entities)
        const wide = yield* api("GET", `${webhooks}/${id}/deliveries?limit=999&page=x`, { as: asAdmin })
        assert.deepStrictEqual(wide.at("meta.pagination"), { page: 1, limit: 100, total: 3, totalPages: 1 })
      }))
  })

  describe("POST /api/webhooks/deliveries/:id/redeliver", () => {
    it.effect("sends the same event again under the same id, also one that had arrived", () =>
      Effect.gen(function*() {
        const receiver = yield* startReceiver
        const { id, secret } = yield* anEndpoint(`${receiver.url}/again`, ["catalog.create"])
        const entity = yield* anEvent()
        const first = yield* firstAbout(receiver, "/again", entity.id)
        const row = yield* delivering("the log", isDelivered(id, first.at("id")))
        const answer = yield* redeliver(at(row, "id"))
        assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
        const second = yield* delivering("the second", Effect.sync(() => receiver.received("/again")[1]))
        assert.strictEqual(second.headers["webhook-id"], first.headers["webhook-id"])
        for (const path of ["id", "type", "timestamp", "data"]) {
          assert.deepStrictEqual(second.at(path), first.at(path), path)
        }
        assert.isTrue(isSignedWith(second, secret))
        assert.strictEqual(countAbout(receiver, "/again", entity.id), 2)
      }))

    it.effect("is 404 for another organization's delivery, and calls nobody", () =>
      Effect.gen(function*() {
        const receiver = yield* startReceiver
        const [owner, outsider] = [yield* anOrganization, yield* anOrganization]
        const { id } = yield* anEndpoint(`${receiver.url}/ours`, ["catalog.create"], {}, owner)
        const one = yield* firstAbout(receiver, "/ours", (yield* anEvent(owner)).id)
        const row = yield* delivering("the log", isDelivered(id, one.at("id"), owner))
        refused(yield* redeliver(at(row, "id"), outsider), 404, "NOT_FOUND")
        refused(yield* api("GET", `${webhooks}/${id}/deliveries`, { as: outsider }), 404, "NOT_FOUND")
        assert.strictEqual(yield* waitingOf(owner), 0)
        assert.strictEqual(receiver.received("/ours").length, 1)
      }))
  })
})
