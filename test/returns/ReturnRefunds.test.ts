import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase, refused, stockOf } from "../checkout/CheckoutFixtures.ts"
import { api, asAdmin, asStaff, withSharedApp } from "../support/TestApp.ts"
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

  it.effect("keeps its units and their worth from other refunds, and every read shows what is left", () =>
    Effect.gen(function*() {
      const order = yield* sold(3)
      const shown = Effect.gen(function*() {
        const cap = yield* api("GET", `/api/orders/refunds/cap?orderId=${order.id}`, { as: asStaff })
        const read = yield* api("GET", `/api/orders/${order.id}`, { as: asStaff })
        return [read.at("data.lineItems.0.refundable"), cap.at("data.lines.0.quantity"), cap.at("data.cap")]
      })
      const byHand = (body: object) => api("POST", `/api/orders/${order.id}/refund`, { as: asStaff, body })
      assert.deepStrictEqual(yield* shown, [3, 3, 3_000])
      const id = yield* received(order, 2)
      assert.deepStrictEqual(yield* shown, [1, 1, 1_000])
      refused(yield* byHand({ amount: 1_001 }), 422, "VALIDATION_FAILED")
      assert.deepInclude((yield* expecting(201, byHand({}))).at("data"), { amount: 1_000, lines: [] })
      refused(yield* byHand({}), 409, "CONFLICT")
      yield* expecting(200, step(order, id, "refund"))
      assert.deepStrictEqual(yield* shown, [1, 1, 0])
      assert.strictEqual((yield* api("GET", `/api/orders/${order.id}`, { as: asStaff })).at("data.status"), "refunded")
    }))

  it.effect("keeps its units from a refund that failed before and is tried again", () =>
    Effect.gen(function*() {
      const order = yield* sold(1)
      const body = { lines: [{ lineItemId: order.lineId, quantity: 1 }] }
      const failed = (yield* expecting(201, api("POST", `/api/orders/${order.id}/refunds`, { as: asStaff, body })))
        .text("data.id")
      const failure = newId()
      yield* onDatabase((sql) =>
        sql`with failed as (update refunds set status = 'failed', given = 0 where id = ${failed}::uuid),
          open as (insert into compensation_failures (id, organization_id, kind, order_id, refund_id, amount, message)
            select ${failure}::uuid, organization_id, 'refund_failed', order_id, id, amount, 'refused'
            from refunds where id = ${failed}::uuid),
          line as (update order_lines set refunded_quantity = 0, refunded_value = 0 where order_id = ${order.id}::uuid)
          update orders set refunded_total = 0, status = 'fulfilled' where id = ${order.id}::uuid`
      )
      const id = yield* received(order)
      const retried = yield* api("POST", `/api/admin/compensation-failures/${failure}/retry`, { as: asAdmin })
      refused(retried, 409, "CONFLICT")
      yield* expecting(200, step(order, id, "refund"))
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
      const order = yield* sold(2)
      yield* expecting(201, api("POST", `/api/orders/${order.id}/refund`, { as: asStaff, body: { amount: 1_500 } }))
      const id = yield* received(order)
      refused(yield* step(order, id, "refund"), 422, "VALIDATION_FAILED")
      const shown = yield* api("GET", `/api/orders/${order.id}/returns/${id}`, { as: asStaff })
      assert.deepInclude(shown.at("data"), { status: "received", refundId: null })
    }))
})
