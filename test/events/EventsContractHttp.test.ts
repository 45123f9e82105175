import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { holding, refused } from "../checkout/CheckoutFixtures.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { anOrganization } from "../support/Organizations.ts"
import { sharedClient } from "../support/SharedClients.ts"
import { api, asAdmin, asCustomer, asStaff, at, TestApp, withApp } from "../support/TestApp.ts"
import { aDigitalCart, bringAbout, causes } from "./Causes.ts"
import { allAfter, awaitEvents, cursorOf, events, eventsAfter, sequenceOf } from "./EventStream.ts"

const entities = "/api/catalog/entities"

const types = (of: ReadonlyArray<unknown>) => of.map((one) => at(one, "type"))

const about = (entityId: string, of: ReadonlyArray<unknown>) => of.filter((one) => at(one, "entityId") === entityId)

const aThing = (as: typeof asAdmin) =>
  Effect.map(api("POST", entities, { as, body: { type: "product", slug: newId() } }), (made) => made.text("data.id"))

/** Without a gap and without a repetition, from the first on. */
const assertUnbroken = (of: ReadonlyArray<unknown>, from = 1) =>
  assert.deepStrictEqual(of.map(sequenceOf), of.map((_, nth) => from + nth))

/** Reports the payment of an order that waits for it, as the provider does. */
const reportPayment = Effect.gen(function*() {
  const { databaseUrl } = yield* TestApp
  const order = yield* Effect.provide(
    buildOrder({ captured: null }),
    sharedClient(databaseUrl)
  )
  const metadata = { orderId: order.id, organizationId: order.organizationId }
  const object = { id: order.intentId, amount: order.grandTotal, currency: "usd", metadata }
  const body = JSON.stringify({ id: newId(), type: "payment_intent.succeeded", data: { object } })
  const headers = { "x-payment-signature": signTestEvent("test", body) }
  for (const _ of ["once", "again"]) yield* api("POST", "/api/payments/webhook", { body, headers })
  return order
})

withApp("events", (it) => {
  describe("come of", () => {
    for (const cause of causes) {
      it.effect(`${cause.name}: ${cause.event}, once, with the record`, () =>
        Effect.gen(function*() {
          const ready = yield* cause.prepare(asAdmin)
          const after = yield* cursorOf()
          const actor = { ...asAdmin, type: cause.by ?? "user" as const, userId: `actor-${newId()}` }
          const requestId = `req-${newId()}`
          const { entityId } = yield* bringAbout(cause, ready, actor, requestId)
          const marker = yield* aThing(asAdmin)
          const all = yield* awaitEvents("the event and what came after it", after, (some) =>
            about(marker, some).length === 1 && about(entityId, some).some((one) =>
              at(one, "type") === cause.event
            ))
          const ours = about(entityId, all).filter((one) =>
            at(one, "requestId") === requestId
          )
          assert.deepStrictEqual(types(ours), [cause.event])
          assert.deepInclude(ours[0], {
            entityType: cause.entityType,
            entityId,
            actorId: actor.userId,
            requestId
          })
          assert.match(String(at(ours[0], "id")), /^(evt_)?.{16,}$/)
          assert.match(String(at(ours[0], "timestamp")), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
          const record = at(ours[0], "data")
          assert.isObject(record)
          if (cause.entityType !== "cart") assert.strictEqual(at(record, "id"), entityId)
          if (cause.changes !== undefined) {
            assert.deepStrictEqual(at(record, cause.changes.field), cause.changes.after)
          }
        }))
    }

    it.effect("a customer's first cart, and a later one of his not", () =>
      Effect.gen(function*() {
        const after = yield* cursorOf()
        const customer = asCustomer(`c-${newId()}`)
        const first = yield* api("POST", "/api/carts", { as: customer, body: { currency: "USD" } })
        yield* api("POST", "/api/carts", { as: customer, body: { currency: "USD" } })
        const marker = yield* aThing(asAdmin)
        const all = yield* awaitEvents("the profile", after, (some) => about(marker, some).length === 1)
        assert.deepStrictEqual(types(about(first.text("data.customerId"), all)), ["customers.create"])
      }))

    it.effect("a paid download: the order, and the fulfillment that names it", () =>
      Effect.gen(function*() {
        const ready = yield* aDigitalCart(asAdmin)
        const after = yield* cursorOf()
        const order = yield* api("POST", ready.path, { as: asAdmin, ...(ready.body && { body: ready.body }) })
        const all = yield* awaitEvents("the fulfillment", after, (some) => types(some).includes("fulfillment.create"))
        const fulfillments = all.filter((one) => at(one, "type") === "fulfillment.create")
        assert.strictEqual(fulfillments.length, 1)
        assert.strictEqual(at(fulfillments[0], "entityType"), "fulfillment")
        assert.strictEqual(at(fulfillments[0], "data.orderId"), order.at("data.id"))
        assert.strictEqual(at(fulfillments[0], "data.id"), at(fulfillments[0], "entityId"))
        const [ordered] = all.filter((one) => at(one, "type") === "orders.create")
        assert.isBelow(sequenceOf(ordered), sequenceOf(fulfillments[0]))
        assert.strictEqual((Object(at(ordered, "data.lineItems")) as ReadonlyArray<unknown>).length, 1)
      }))

    it.effect("a payment that the provider reports, however often it does", () =>
      Effect.gen(function*() {
        const order = yield* reportPayment
        const as = { ...asAdmin, organizationId: order.organizationId }
        const marker = yield* aThing(as)
        const all = yield* awaitEvents("the confirmation", 0, (some) => about(marker, some).length === 1, as)
        assert.deepStrictEqual(types(about(order.id, all)), ["orders.statusChange"])
        assert.strictEqual(at(about(order.id, all)[0], "data.status"), "confirmed")
      }))

    it.effect("no request that was refused", () =>
      Effect.gen(function*() {
        const id = yield* aThing(asAdmin)
        yield* awaitEvents("its creation", 0, (some) => about(id, some).length === 1)
        const after = yield* cursorOf()
        const slug = (yield* api("GET", `${entities}/${id}`, { as: asAdmin })).text("data.slug")
        refused(yield* api("POST", entities, { as: asAdmin, body: { type: "product", slug } }), 409, "CONFLICT")
        const bad = yield* api("PATCH", `${entities}/${id}`, { as: asAdmin, body: { slug: "" } })
        refused(bad, 422, "VALIDATION_FAILED")
        refused(yield* api("DELETE", `${entities}/${id}`, { as: asStaff }), 403, "FORBIDDEN")
        const marker = yield* aThing(asAdmin)
        const all = yield* awaitEvents("what came after", after, (some) => about(marker, some).length === 1)
        assert.deepStrictEqual(about(id, all), [])
      }))
  })

  describe("the sequence of an organization", () => {
    it.effect("counts from one without a gap, whoever writes at the same time, and each by itself", () =>
      Effect.gen(function*() {
        const stores = [yield* anOrganization, yield* anOrganization]
        const made = yield* Effect.forEach(
          Array.from({ length: 60 }, (_, n) => stores[n % 2] ?? asAdmin),
          (as) => Effect.map(aThing(as), (id) => ({ id, organization: as.organizationId })),
          { concurrency: 15 }
        )
        for (const as of stores) {
          const ids = made.filter(({ organization }) => organization === as.organizationId).map(({ id }) => id)
          const all = yield* awaitEvents("all events", 0, (some) => some.length >= 30, as)
          assertUnbroken(all)
          assert.sameMembers(all.map((one) => at(one, "entityId")), ids)
        }
      }))

    it.effect("has no gap where a request failed", () =>
      Effect.gen(function*() {
        const as = yield* anOrganization
        const slug = newId()
        const body = { type: "product", slug }
        for (const _ of [1, 2, 3]) yield* api("POST", entities, { as, body })
        yield* aThing(as)
        assertUnbroken(yield* awaitEvents("both", 0, (some) => some.length >= 2, as))
      }))

    it.effect("tells of one record in the order in which it changed", () =>
      Effect.gen(function*() {
        const as = yield* anOrganization
        const id = yield* aThing(as)
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

  describe("GET /api/events", () => {
    it.effect("gives what came after a cursor, oldest first, a page at a time", () =>
      Effect.gen(function*() {
        const as = yield* anOrganization
        const ids: Array<string> = []
        for (let n = 0; n < 5; n++) ids.push(yield* aThing(as))
        const all = yield* awaitEvents("five", 0, (some) => some.length === 5, as)
        assert.deepStrictEqual(all.map((one) => at(one, "entityId")), ids)
        const first = yield* eventsAfter(0, as, 2)
        assert.deepStrictEqual(first.list("data"), all.slice(0, 2))
        const second = yield* eventsAfter(sequenceOf(all[1]), as, 2)
        assert.deepStrictEqual(second.list("data"), all.slice(2, 4))
        const end = yield* eventsAfter(sequenceOf(all[4]), as)
        assert.deepStrictEqual([end.status, end.at("data")], [200, []])
        assert.deepStrictEqual((yield* eventsAfter(1_000_000, as)).at("data"), [])
        const unbounded = yield* api("GET", events, { as })
        assert.deepStrictEqual(unbounded.list("data"), all)
        // The same page again is the same page.
        assert.deepStrictEqual((yield* eventsAfter(0, as, 2)).body, first.body)
      }))

    it.effect("has at most a hundred on a page and twenty unless told otherwise", () =>
      Effect.gen(function*() {
        const as = yield* anOrganization
        yield* Effect.forEach(Array.from({ length: 105 }), () => aThing(as), { concurrency: 15 })
        yield* awaitEvents("all", 0, (some) => some.length === 105, as)
        const sizeOf = (query: string) =>
          Effect.map(api("GET", `${events}?after=0${query}`, { as }), (page) => page.list("data").length)
        assert.deepStrictEqual(
          yield* Effect.forEach(["", "&limit=1000", "&limit=0", "&limit=x", "&limit=7"], sizeOf),
          [20, 100, 20, 20, 7]
        )
      }))

    it.effect("refuses a cursor that is none", () =>
      Effect.gen(function*() {
        for (const after of ["x", "-1", "1.5", "%00", "99999999999999999999999"]) {
          const answer = yield* eventsAfter(after)
          refused(answer, 422, "VALIDATION_FAILED", after)
          assert.strictEqual(answer.at("error.details.issues.0.path"), "after")
        }
      }))

    it.effect("needs webhooks:manage", () =>
      Effect.gen(function*() {
        for (const as of [asStaff, asCustomer("c"), holding("audit:read", "orders:read", "jobs:admin")]) {
          refused(yield* api("GET", events, { as }), 403, "FORBIDDEN")
        }
        refused(yield* api("GET", events), 401, "UNAUTHORIZED")
        assert.strictEqual((yield* api("GET", events, { as: holding("webhooks:manage") })).status, 200)
        const other = yield* api("POST", events, { as: asAdmin, body: {} })
        refused(other, 405, "METHOD_NOT_ALLOWED")
      }))

    it.effect("shows an organization nothing of another, whatever the cursor", () =>
      Effect.gen(function*() {
        const [ours, theirs] = [yield* anOrganization, yield* anOrganization]
        const [own, foreign] = [yield* aThing(ours), yield* aThing(theirs)]
        const all = yield* awaitEvents("ours", 0, (some) => some.length > 0, ours)
        yield* awaitEvents("theirs", 0, (some) => some.length > 0, theirs)
        assert.deepStrictEqual(all.map((one) => at(one, "entityId")), [own])
        assert.notInclude(JSON.stringify(yield* allAfter(0, ours)), foreign)
      }))

    it.effect("holds no secret of a cart", () =>
      Effect.gen(function*() {
        const after = yield* cursorOf()
        const cart = yield* api("POST", "/api/carts", { body: { currency: "USD" } })
        const headers = { "x-cart-secret": cart.text("data.secret") }
        const entityId = yield* aThing(asAdmin)
        yield* api("POST", `${entities}/${entityId}/publish`, { as: asAdmin })
        yield* api("POST", "/api/pricing/prices", { as: asAdmin, body: { entityId, currency: "USD", amount: 5 } })
        const path = `/api/carts/${cart.text("data.id")}/items`
        yield* api("POST", path, { headers, body: { entityId, quantity: 1 } })
        const all = yield* awaitEvents("the line", after, (some) => types(some).includes("cart.afterAddItem"))
        assert.notInclude(JSON.stringify(all), cart.text("data.secret"))
      }))
  })
})
