import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase, refused, stockOf } from "../checkout/CheckoutFixtures.ts"
import { api, asStaff, withSharedApp } from "../support/TestApp.ts"
import { expecting, received, type Sold, sold, step } from "./ReturnFixtures.ts"

const refundOf = (order: Sold) => api("GET", `/api/orders/${order.id}/refunds`, { as: asStaff })

withSharedApp("the refund of a return", (it) => {
  it.effect("gives back what was received, once, however many ask at once", () =>
    Effect.gen(function*() {
      const order = yield* sold(3)
      const id = yield* received(order, 2)
      const answers = yield* Effect.all([1, 2, 3].map(() => step(order, id, "refund")), { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 409, 409])
      const refunds = yield* refundOf(order)
      assert.lengthOf(refunds.list("data"), 1)
      assert.deepInclude(refunds.at("data.0"), {
        kind: "return",
        amount: 2_000,
        status: "completed",
        givenOutside: null
      })
      assert.deepInclude(refunds.at("data.0.lines.0"), { lineItemId: order.lineId, quantity: 2, amount: 2_000 })
      const shown = yield* api("GET", `/api/orders/${order.id}/returns/${id}`, { as: asStaff })
      assert.deepInclude(shown.at("data"), { status: "refunded", refundId: refunds.text("data.0.id") })
      assert.deepStrictEqual(yield* stockOf(order.entityId), { onHand: 9, reserved: 0 })
    }))

  it.effect("is refused before the goods are received, and of units that were refunded otherwise", () =>
    Effect.gen(function*() {
      const order = yield* sold(1)
      const id = yield* received(order)
      const one = { lines: [{ lineItemId: order.lineId, quantity: 1 }], restock: true }
      refused(
        yield* api("POST", `/api/orders/${order.id}/refunds`, { as: asStaff, body: one }),
        422,
        "VALIDATION_FAILED"
      )
      assert.deepStrictEqual(
        (yield* api("GET", `/api/orders/refunds/cap?orderId=${order.id}`, { as: asStaff })).at("data.lines"),
        []
      )
      yield* expecting(200, step(order, id, "refund"))
      assert.strictEqual((yield* api("GET", `/api/orders/${order.id}`, { as: asStaff })).at("data.status"), "refunded")
      refused(yield* step(order, id, "refund"), 409, "CONFLICT")
    }))

  it.effect("asks no provider for money that was given outside, and counts it", () =>
    Effect.gen(function*() {
      const order = yield* sold(2)
      // A provider that does not exist: asking it fails.
      yield* onDatabase((sql) => sql`update orders set payment_provider = 'closed' where id = ${order.id}::uuid`)
      const id = yield* received(order)
      const givenOutside = { means: "Bank transfer", reference: "SEPA 42" }
      yield* expecting(200, step(order, id, "refund", { givenOutside }))
      const refunds = yield* refundOf(order)
      assert.deepInclude(refunds.at("data.0"), {
        amount: 1_000,
        status: "completed",
        givenOutside,
        providerReference: null
      })
      const cap = yield* api("GET", `/api/orders/refunds/cap?orderId=${order.id}`, { as: asStaff })
      assert.deepInclude(cap.at("data"), { refunded: 1_000, pending: 0, cap: 1_000 })
      const rest = yield* api("POST", `/api/orders/${order.id}/refund`, {
        as: asStaff,
        body: { givenOutside: { means: "Cash" } }
      })
      assert.deepInclude(rest.at("data"), { amount: 1_000, status: "completed", givenOutside: { means: "Cash" } })
      assert.strictEqual((yield* api("GET", `/api/orders/${order.id}`, { as: asStaff })).at("data.status"), "refunded")
    }))

  it.effect("and its return keep no texts or pictures of a buyer who is erased", () =>
    Effect.gen(function*() {
      const order = yield* sold(1)
      const lines = [{ lineItemId: order.lineId, quantity: 1, reason: "Torn by Ann" }]
      const asked = api("POST", `/api/orders/${order.id}/returns`, {
        as: asStaff,
        body: { lines, photos: ["https://pictures.example/ann.jpg"] }
      })
      const id = (yield* expecting(201, asked)).text("data.id")
      yield* expecting(200, step(order, id, "reject", { reason: "Ann wore it." }))
      yield* expecting(200, api("DELETE", "/api/me", { as: order.buyer }))
      const shown = yield* api("GET", `/api/orders/${order.id}/returns/${id}`, { as: asStaff })
      assert.deepInclude(shown.at("data"), { status: "rejected", photos: [], rejectionReason: null })
      const kept = yield* onDatabase((sql) => sql`select payload, before from outbox_events where entity_id = ${id}`)
      assert.notMatch(JSON.stringify([shown.body, kept]), /Ann|ann\.jpg/)
    }))

  it.effect("and its return are written together or not at all", () =>
    Effect.gen(function*() {
      const order = yield* sold(1)
      const id = yield* received(order)
      yield* onDatabase((sql) => sql`update orders set amount_captured = 500 where id = ${order.id}::uuid`)
      yield* expecting(201, api("POST", `/api/orders/${order.id}/refund`, { as: asStaff, body: { amount: 500 } }))
      refused(yield* step(order, id, "refund"), 422, "VALIDATION_FAILED")
      const shown = yield* api("GET", `/api/orders/${order.id}/returns/${id}`, { as: asStaff })
      assert.deepInclude(shown.at("data"), { status: "received", refundId: null })
    }))
})
