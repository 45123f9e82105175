import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { eventTypes } from "../../src/domain/platform/events/Event.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { aNewcomer, assertEntry, doneBy, historyOf } from "../audit/Entries.ts"
import { holding, onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { write } from "../orders/OrderFixtures.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { anOrganization } from "../support/Organizations.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { sharedClient } from "../support/SharedClients.ts"
import {
  api,
  asAdmin,
  asCustomer,
  asStaff,
  at,
  TestApp,
  testAppLayer,
  theOrganization,
  withSharedApp
} from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"
import { aDigitalCart, bringAbout, causes } from "./Causes.ts"
import { upTo } from "./ChangeLog.ts"
import { allAfter, anEntity, awaitEvents, cursorOf, openStream, sequenceOf } from "./EventStream.ts"

const entities = "/api/catalog/entities"

const types = (of: ReadonlyArray<unknown>) => of.map((one) => at(one, "type"))

const about = (entityId: string, of: ReadonlyArray<unknown>) => of.filter((one) => at(one, "entityId") === entityId)

/** The sequences have no gap and no repetition, from the first on. */
const assertUnbroken = (of: ReadonlyArray<unknown>) => assert.deepStrictEqual(of.map(sequenceOf), upTo(of.length))

/** Changes that come beside the one that was asked for. */
const companions = new Set<unknown>(["orders.cancel", "payments.capture", "refunds.create", "refunds.complete"])

/** A payment that the provider reports twice for an order that waits for it. */
const aPaidOrder = Effect.gen(function*() {
  const { databaseUrl } = yield* TestApp
  const order = yield* Effect.provide(buildOrder({ captured: null }), sharedClient(databaseUrl))
  const metadata = { orderId: order.id, organizationId: order.organizationId }
  const object = { id: order.intentId, amount: order.grandTotal, currency: "usd", metadata }
  const body = JSON.stringify({ id: newId(), type: "payment_intent.succeeded", data: { object } })
  const headers = { "x-payment-signature": signTestEvent("test", body), "x-request-id": `paid-${order.id}` }
  for (const _ of ["once", "again"]) yield* api("POST", "/api/payments/webhook", { body, headers })
  return { ...order, as: { ...asAdmin, organizationId: order.organizationId } }
})

withSharedApp("events and the audit trail", (it) => {
  for (const cause of causes) {
    it.effect(`${cause.name} emits ${cause.event} and has an audit entry, once, with the record`, () =>
      Effect.gen(function*() {
        const ready = yield* cause.prepare(asAdmin)
        const after = yield* cursorOf()
        const actor = aNewcomer(cause.by)
        const requestId = `req-${newId()}`
        const { entityId } = yield* bringAbout(cause, ready, actor, requestId)
        const marker = yield* anEntity()
        const all = yield* awaitEvents(
          "the event and what came after it",
          after,
          (some) =>
            about(marker, some).length === 1 && about(entityId, some).some((one) => at(one, "type") === cause.event)
        )
        const ours = about(entityId, all).filter((one) =>
          at(one, "requestId") === requestId && !companions.has(at(one, "type"))
        )
        assert.deepStrictEqual(types(ours), [cause.event])
        const [event] = ours
        const by = { entityType: cause.entityType, entityId, actorId: actor.userId, requestId }
        assert.deepInclude(event, by)
        assert.match(String(at(event, "timestamp")), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        assert.isObject(at(event, "data"))
        if (cause.entityType !== "cart") assert.strictEqual(at(event, "data.id"), entityId)

        const [entry, ...others] = (yield* doneBy(actor)).filter((one) => !companions.has(at(one, "event")))
        assert.deepStrictEqual(others, [])
        assertEntry(entry)
        const organizationId = yield* theOrganization
        assert.deepInclude(entry, { ...by, organizationId, event: cause.event, actorType: actor.type })
        if (cause.changes !== undefined) {
          const { after, before, field } = cause.changes
          const values = [at(entry, `before.${field}`), at(entry, `payload.${field}`), at(event, `data.${field}`)]
          assert.deepStrictEqual(values, [before, after, after])
        }
        if (cause.event.endsWith(".create")) assert.isNull(at(entry, "before"))
        if (cause.event === "catalog.delete") assert.strictEqual(at(entry, "before.id"), entityId)
        const history = yield* historyOf(cause.entityType, entityId)
        const same = history.list("data").find((one) => at(one, "id") === at(entry, "id"))
        // The relay assigns the position meanwhile.
        assert.deepStrictEqual({ ...Object(same), position: null }, { ...Object(entry), position: null })
      }))
  }

  it.effect("a paid download emits the order and then the fulfillment that names it, recorded for one request", () =>
    Effect.gen(function*() {
      const ready = yield* aDigitalCart(asAdmin)
      const after = yield* cursorOf()
      const actor = aNewcomer()
      const order = yield* api("POST", ready.path, { as: actor, ...(ready.body && { body: ready.body }) })
      const all = yield* awaitEvents("the fulfillment", after, (some) => types(some).includes("fulfillment.create"))
      const [fulfillment, ...others] = all.filter((one) => at(one, "type") === "fulfillment.create")
      assert.deepStrictEqual(others, [])
      assert.deepInclude(fulfillment, { entityType: "fulfillment", entityId: at(fulfillment, "data.id") })
      assert.strictEqual(at(fulfillment, "data.orderId"), order.at("data.id"))
      const [ordered] = all.filter((one) => at(one, "type") === "orders.create")
      assert.isBelow(sequenceOf(ordered), sequenceOf(fulfillment))
      assert.strictEqual((Object(at(ordered, "data.lineItems")) as ReadonlyArray<unknown>).length, 1)
      const entries = yield* doneBy(actor)
      const recorded = entries.map((one) => at(one, "event")).filter((event) =>
        /^(orders|fulfillment)\./.test(String(event))
      )
      assert.includeMembers(recorded, ["orders.create", "fulfillment.create"])
      const requests = new Set(entries.map((one) => at(one, "requestId")))
      assert.deepStrictEqual([...requests], [order.headers.get("x-request-id")])
    }))

  it.effect("the capture of a payment, a refund and a change of a fulfillment are events", () =>
    Effect.gen(function*() {
      const after = yield* cursorOf()
      const entityId = yield* aProduct()
      const order = yield* checkOut(yield* aCartWith(entityId))
      const path = `/api/orders/${order.text("data.id")}`
      const post = (to: string, body: object) => api("POST", `${path}/${to}`, { as: asAdmin, body })
      yield* post("refund", { amount: 100 })
      yield* api("PATCH", `${path}/status`, { as: asAdmin, body: { status: "confirmed" } })
      const lineItems = [{ orderLineItemId: order.at("data.lineItems.0.id"), quantity: 1 }]
      const sent = yield* post("fulfillments", { lineItems })
      yield* api("PATCH", `${path}/fulfillments/${sent.text("data.id")}`, {
        as: asAdmin,
        body: { status: "delivered" }
      })
      const all = yield* awaitEvents("the delivery", after, (some) => types(some).includes("fulfillment.update"))
      assert.includeMembers(types(all), [
        "payments.capture",
        "refunds.create",
        "refunds.complete",
        "fulfillment.update"
      ])
      const [capture] = all.filter((one) => at(one, "type") === "payments.capture")
      assert.deepInclude(capture, { entityType: "order", entityId: order.at("data.id") })
      const [refund] = all.filter((one) => at(one, "type") === "refunds.complete")
      assert.deepInclude(at(refund, "data"), { orderId: order.at("data.id"), amount: 100, status: "completed" })
    }))

  it.effect("the edit of an order, its cancellation and the erasure of a customer are events", () =>
    Effect.gen(function*() {
      const after = yield* cursorOf()
      const order = yield* write({ lineItems: [{ entityId: yield* aProduct({ price: 500 }), quantity: 1 }] })
      const path = `/api/orders/${order.text("data.id")}`
      const line = `${path}/line-items/${order.text("data.lineItems.0.id")}`
      yield* api("PATCH", line, { as: asAdmin, body: { quantity: 3 } })
      yield* api("PATCH", `${path}/status`, { as: asAdmin, body: { status: "cancelled" } })
      const as = asCustomer(newId())
      const profile = yield* api("GET", "/api/me/profile", { as })
      yield* api("DELETE", "/api/me", { as })
      const all = yield* awaitEvents("the erasure", after, (some) => types(some).includes("customers.delete"))
      const changes = about(order.text("data.id"), all)
      const dataOf = (type: string) => changes.filter((one) => at(one, "type") === type).map((one) => at(one, "data"))
      const [[edited], [cancelled]] = [dataOf("orders.update"), dataOf("orders.cancel")]
      assert.deepEqual([at(edited, "status"), at(edited, "lineItems.0.quantity")], ["pending", 3])
      assert.deepEqual([at(cancelled, "status"), at(cancelled, "lineItems.0.quantity")], ["cancelled", 3])
      assert.include(types(about(profile.text("data.id"), all)), "customers.delete")
    }))

  it.effect("every event of the specification has a request above that causes it", () =>
    Effect.sync(() =>
      assert.sameMembers([...new Set(causes.map(({ event }) => event)), "fulfillment.create"], [...eventTypes])
    ))

  it.effect("a customer's first cart emits the new profile, and a later cart does not", () =>
    Effect.gen(function*() {
      const after = yield* cursorOf()
      const customer = asCustomer(`c-${newId()}`)
      const first = yield* api("POST", "/api/carts", { as: customer, body: { currency: "USD" } })
      yield* api("POST", "/api/carts", { as: customer, body: { currency: "USD" } })
      const marker = yield* anEntity()
      const all = yield* awaitEvents("the profile", after, (some) => about(marker, some).length === 1)
      const id = first.text("data.customerId")
      assert.deepStrictEqual(types(about(id, all)), ["customers.create"])
      const [profile] = (yield* historyOf("customer", id)).list("data")
      assert.deepInclude(profile, { event: "customers.create", actorId: customer.userId, actorType: "user" })
    }))

  it.effect("a payment that the provider reports twice emits one event and is recorded in the provider's name", () =>
    Effect.gen(function*() {
      const { as, id } = yield* aPaidOrder
      const marker = yield* anEntity(as)
      const all = yield* awaitEvents("the confirmation", 0, (some) => about(marker, some).length === 1, as)
      assert.deepStrictEqual(about(id, all).map((one) => [at(one, "type"), at(one, "data.status")]), [
        ["orders.statusChange", "confirmed"]
      ])
      const history = (yield* historyOf("order", id, as)).list("data")
      const [confirmed, ...others] = history.filter((one) => at(one, "event") === "orders.statusChange")
      assert.deepStrictEqual(others, [])
      assert.deepInclude(confirmed, { actorId: "test-webhook", actorType: "api_key", requestId: `paid-${id}` })
      const statuses = [at(confirmed, "before.status"), at(confirmed, "payload.status")]
      assert.deepStrictEqual(statuses, ["pending", "confirmed"])
    }))

  it.effect("refused requests emit nothing and leave no gap", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const id = yield* anEntity(as)
      const slug = (yield* api("GET", `${entities}/${id}`, { as })).text("data.slug")
      refused(yield* api("POST", entities, { as, body: { type: "product", slug } }), 409, "CONFLICT")
      refused(yield* api("PATCH", `${entities}/${id}`, { as, body: { slug: "" } }), 422, "VALIDATION_FAILED")
      refused(yield* api("DELETE", `${entities}/${id}`, { as: { ...as, permissions: [] } }), 403, "FORBIDDEN")
      const marker = yield* anEntity(as)
      const all = yield* awaitEvents("what came after", 0, (some) => about(marker, some).length === 1, as)
      assert.deepStrictEqual(all.map((one) => at(one, "entityId")), [id, marker])
      assertUnbroken(all)
    }))

  it.effect("sequences count from one without a gap in each organization while many requests write", () =>
    Effect.gen(function*() {
      const stores = [yield* anOrganization, yield* anOrganization]
      const made = yield* Effect.forEach(
        Array.from({ length: 60 }, (_, n) => stores[n % 2] ?? asAdmin),
        (as) => Effect.map(anEntity(as), (id) => ({ id, organization: as.organizationId })),
        { concurrency: 15 }
      )
      for (const as of stores) {
        const ids = made.filter(({ organization }) => organization === as.organizationId).map(({ id }) => id)
        const all = yield* awaitEvents("all events", 0, (some) => some.length >= 30, as)
        assertUnbroken(all)
        assert.sameMembers(all.map((one) => at(one, "entityId")), ids)
      }
    }))

  it.effect("events of one record follow the order of its changes", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const id = yield* anEntity(as)
      for (const verb of ["publish", "archive", "publish", "discontinue"]) {
        yield* api("POST", `${entities}/${id}/${verb}`, { as })
      }
      yield* api("DELETE", `${entities}/${id}`, { as })
      const all = yield* awaitEvents("all six", 0, (some) => some.length === 6, as)
      assertUnbroken(all)
      assert.deepStrictEqual(all.map((one) => [at(one, "type"), at(one, "data.status")]), [
        ["catalog.create", "draft"],
        ["catalog.update", "active"],
        ["catalog.update", "archived"],
        ["catalog.update", "active"],
        ["catalog.update", "discontinued"],
        ["catalog.delete", "discontinued"]
      ])
    }))
})

withSharedApp("GET /api/events", (it) => {
  it.effect("the list of events returns the events after a cursor, oldest first, by page and by type", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const ids: Array<string> = []
      for (let n = 0; n < 5; n++) ids.push(yield* anEntity(as))
      const all = yield* awaitEvents("five", 0, (some) => some.length === 5, as)
      assert.deepStrictEqual(all.map((one) => at(one, "entityId")), ids)
      const fields = ["id", "sequence", "type", "timestamp", "entityType", "entityId", "data", "actorId", "requestId"]
      assert.hasAllKeys(all[0], fields)
      const pages: ReadonlyArray<readonly [query: string, data: ReadonlyArray<unknown>, next: number]> = [
        ["", all, 5],
        ["?limit=2", all.slice(0, 2), 2],
        ["?limit=2&after=2", all.slice(2, 4), 4],
        ["?after=5", [], 5],
        ["?after=1000000", [], 1_000_000],
        ["?type=catalog.create&limit=2", all.slice(0, 2), 2],
        // The cursor passes over events of other types.
        ["?type=catalog.delete", [], 5]
      ]
      for (const [query, data, next] of pages) {
        const page = yield* api("GET", `/api/events${query}`, { as })
        assert.deepStrictEqual([page.status, page.at("data"), page.at("meta.next")], [200, data, next], query)
      }
    }))

  it.effect("the list of events returns at most a hundred events and twenty by default", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      yield* Effect.forEach(upTo(105), () => anEntity(as), { concurrency: 15 })
      yield* awaitEvents("all", 0, (some) => some.length === 105, as)
      const sizeOf = (query: string) =>
        Effect.map(api("GET", `/api/events?after=0${query}`, { as }), (page) => page.list("data").length)
      const sizes = yield* Effect.forEach(["", "&limit=1000", "&limit=0", "&limit=x", "&limit=7"], sizeOf)
      assert.deepStrictEqual(sizes, [20, 100, 20, 20, 7])
    }))

  it.effect("the list of events refuses invalid cursors and events that do not exist", () =>
    Effect.gen(function*() {
      const after = ["x", "-1", "1.5", "%00", "99999999999999999999999"].map((text) => ["after", text] as const)
      for (const [field, value] of [...after, ["type", "cart.create"] as const]) {
        const answer = yield* api("GET", `/api/events?${field}=${value}`, { as: asAdmin })
        refused(answer, 422, "VALIDATION_FAILED", value)
        assert.strictEqual(answer.at("error.details.issues.0.path"), field)
      }
    }))

  it.effect("the list of events needs webhooks:manage", () =>
    Effect.gen(function*() {
      for (const as of [asStaff, asCustomer("c"), holding("audit:read", "orders:read", "jobs:admin")]) {
        refused(yield* api("GET", "/api/events", { as }), 403, "FORBIDDEN")
      }
      refused(yield* api("GET", "/api/events"), 401, "UNAUTHORIZED")
      assert.strictEqual((yield* api("GET", "/api/events", { as: holding("webhooks:manage") })).status, 200)
      assert.strictEqual((yield* openStream("", asStaff)).response.status, 403)
      assert.strictEqual((yield* openStream("", holding("webhooks:manage"))).response.status, 200)
    }))

  it.effect("the list of events shows no event of another tenant", () =>
    Effect.gen(function*() {
      const [ours, theirs] = [yield* anOrganization, yield* anOrganization]
      const stream = yield* openStream("?after=0", ours)
      const foreign = yield* anEntity(theirs)
      yield* awaitEvents("theirs", 0, (some) => some.length > 0, theirs)
      const own = yield* anEntity(ours)
      const all = yield* awaitEvents("ours", 0, (some) => some.length > 0, ours)
      assert.deepStrictEqual(all.map((one) => at(one, "entityId")), [own])
      assert.notInclude(JSON.stringify(yield* allAfter(0, ours)), foreign)
      yield* stream.until(1)
      assert.deepStrictEqual(stream.messages.map(({ data }) => at(data, "entityId")), [own])
    }))
})

withSharedApp("the stream of events", (it) => {
  it.effect("the stream of events sends past events and then new ones, in order and once, as the list shows them", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      for (const _ of upTo(3)) yield* anEntity(as)
      yield* awaitEvents("three", 0, (some) => some.length === 3, as)
      const stream = yield* openStream("?after=1", as)
      assert.strictEqual(stream.response.headers.get("content-type"), "text/event-stream")
      assert.isString(stream.response.headers.get("x-request-id"))
      yield* stream.until(2)
      yield* Effect.forEach(upTo(50), () => anEntity(as), { concurrency: 10 })
      yield* stream.until(52)
      assert.deepStrictEqual(stream.messages.map(({ id }) => id), upTo(53).slice(1).map(String))
      assert.deepStrictEqual(new Set(stream.messages.map(({ event }) => event)), new Set(["catalog.create"]))
      assert.deepStrictEqual(stream.messages.map(({ data }) => data), yield* allAfter(1, as))
    }))

  it.effect("the stream of events begins after the cursor or the last received event, and sends one type on request", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      for (const _ of upTo(3)) yield* anEntity(as)
      yield* awaitEvents("three", 0, (some) => some.length === 3, as)
      const other = yield* openStream("?type=catalog.delete", as)
      const streams = [
        yield* openStream("?after=2", as),
        yield* openStream("", as, { "last-event-id": "2" }),
        // A client that reconnects sends both: the first address, and its last event.
        yield* openStream("?after=0", as, { "last-event-id": "2" })
      ]
      for (const stream of streams) {
        yield* stream.until(1)
        assert.strictEqual(stream.messages[0]?.id, "3")
      }
      assert.deepStrictEqual(other.messages, [])
    }))

  it.effect("the stream of events refuses invalid cursors before it begins", () =>
    Effect.gen(function*() {
      const answers = [yield* openStream("?after=x"), yield* openStream("", asAdmin, { "last-event-id": "three" })]
      for (const { response } of answers) {
        assert.strictEqual(response.status, 422)
        assert.match(response.headers.get("content-type") ?? "", /json/)
      }
    }))

  it.effect("the stream of events omits nothing for a reader who comes while much happens", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const write = onDatabase((sql) =>
        sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_type, source)
          select gen_random_uuid(), ${as.organizationId}, 'catalog.update', 'catalog_entity', 'e', '{}', 'user', 'rest'
          from generate_series(1, 500)`
      )
      yield* Effect.forkChild(Effect.forEach(upTo(6), () => write, { discard: true }))
      const streams = yield* Effect.forEach(upTo(3), () => openStream("", as))
      for (const stream of streams) {
        yield* stream.until(3_000)
        assert.deepStrictEqual(stream.messages.map(({ id }) => id), upTo(3_000).map(String))
      }
    }))
})

describe("a process that ends", () => {
  it.live("a process that ends closes its streams of events and waits for none of them", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const app = yield* Layer.buildWithScope(testAppLayer(), scope)
      const stream = yield* Effect.provideContext(Effect.andThen(anEntity(), openStream()), app)
      yield* stream.until(1)
      assert.isFalse(stream.ended())
      yield* Scope.close(scope, Exit.void)
      yield* Effect.promise(() => waitFor("the end of the stream", stream.ended))
      assert.isFalse(stream.wasCut(), "a server that waits for a stream cuts it off in the end")
    }))
})
