import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { inspect } from "node:util"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase, refused as refusedAs, stockOf } from "../checkout/CheckoutFixtures.ts"
import { aWarehouse } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, asCustomer, asStaff, at, withSharedApp } from "../support/TestApp.ts"
import { ask, askOwn, expecting, receipt, received, sold, step } from "./ReturnFixtures.ts"

const refused = (answer: Answer, status: number, code: string, message = /./) => {
  refusedAs(answer, status, code)
  assert.match(JSON.stringify(answer.body), message)
}

withSharedApp("returns", (it) => {
  it.effect("are requested, approved and received, and are shown at the order, in lists and to the buyer", () =>
    Effect.gen(function*() {
      const order = yield* sold()
      const photos = ["https://pictures.example/tear.jpg"]
      const lines = [{ lineItemId: order.lineId, quantity: 2, reason: "Too small" }]
      const asked = yield* expecting(
        201,
        api("POST", `/api/orders/${order.id}/returns`, { as: asStaff, body: { lines, photos } })
      )
      assert.deepInclude(asked.at("data"), {
        orderId: order.id,
        number: `${order.orderNumber}-R1`,
        status: "requested",
        photos,
        refundId: null,
        replacementOrderId: null,
        requestedBy: "user-staff"
      })
      assert.deepInclude(asked.at("data.lines.0"), {
        lineItemId: order.lineId,
        quantity: 2,
        reason: "Too small",
        receivedQuantity: 0
      })
      const id = asked.text("data.id")
      const approved = yield* step(order, id, "approve", {
        instructions: "Use the box.",
        labelUrl: "https://label.example/1.pdf"
      })
      assert.deepInclude(approved.at("data"), {
        status: "approved",
        instructions: "Use the box.",
        labelUrl: "https://label.example/1.pdf"
      })
      const back = yield* expecting(200, step(order, id, "receive", receipt(order, 1)))
      assert.deepInclude(back.at("data"), { status: "received" })
      for (
        const [path, as] of [
          [`/api/orders/${order.id}/returns`, asStaff],
          [`/api/returns?status=received&orderId=${order.id}`, asStaff],
          [`/api/me/orders/${order.orderNumber}/returns`, order.buyer]
        ] as const
      ) {
        const list = yield* expecting(200, api("GET", path, { as }))
        assert.deepStrictEqual(list.at("data"), [back.at("data")], path)
      }
      const read = yield* api("GET", `/api/orders/${order.id}/returns/${id}`, { as: asStaff })
      assert.deepStrictEqual(read.at("data"), back.at("data"))
      assert.strictEqual(
        (yield* api("GET", "/api/returns?status=approved&limit=1", { as: asStaff })).number("meta.pagination.total"),
        0
      )
    }))

  it.effect("restock where the receipt says, scrap the rest, and take back fewer units than were asked for", () =>
    Effect.gen(function*() {
      const order = yield* sold(4)
      const main = yield* aWarehouse()
      const other = yield* aWarehouse("OTHER")
      const id = (yield* ask(order, 4)).text("data.id")
      yield* step(order, id, "approve")
      const line = (quantity: number, more: object) => receipt(order, quantity, more).lines
      const back = yield* expecting(
        200,
        step(order, id, "receive", {
          lines: [
            ...line(1, { disposition: "restock" }),
            ...line(1, { disposition: "restock", warehouseId: other }),
            ...line(1, { disposition: "scrap" })
          ]
        })
      )
      assert.deepInclude(back.at("data.lines.0"), {
        receivedQuantity: 3,
        received: [
          { quantity: 1, disposition: "restock", warehouseId: main },
          { quantity: 1, disposition: "restock", warehouseId: other },
          { quantity: 1, disposition: "scrap", warehouseId: null }
        ]
      })
      assert.deepStrictEqual(yield* stockOf(order.entityId), { onHand: 8, reserved: 0 })
      yield* expecting(201, ask(order, 1))
      refused(yield* ask(order, 1), 422, "VALIDATION_FAILED")
    }))

  it.effect("restock no unit that its refund has restocked, and scrap it still", () =>
    Effect.gen(function*() {
      const order = yield* sold(2)
      yield* aWarehouse()
      const id = (yield* ask(order, 2)).text("data.id")
      yield* step(order, id, "approve")
      const before = yield* stockOf(order.entityId)
      const lines = [{ lineItemId: order.lineId, quantity: 1 }]
      const body = { lines, restock: true }
      yield* expecting(201, api("POST", `/api/orders/${order.id}/refunds`, { as: asAdmin, body }))
      const restocked = { ...before, onHand: before.onHand + 1 }
      assert.deepStrictEqual(yield* stockOf(order.entityId), restocked)
      refused(yield* step(order, id, "receive", receipt(order, 2)), 422, "VALIDATION_FAILED")
      assert.deepStrictEqual(yield* stockOf(order.entityId), restocked)
      const line = (disposition: string) => receipt(order, 1, { disposition }).lines
      yield* expecting(200, step(order, id, "receive", { lines: [...line("restock"), ...line("scrap")] }))
      assert.deepStrictEqual(yield* stockOf(order.entityId), { ...before, onHand: before.onHand + 2 })
    }))

  it.effect("never ask for more units than were sold, also of ten requests at once", () =>
    Effect.gen(function*() {
      const order = yield* sold(3)
      const answers = yield* Effect.all(Array.from({ length: 10 }, () => ask(order)), { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [
        201,
        201,
        201,
        422,
        422,
        422,
        422,
        422,
        422,
        422
      ])
      assert.match(JSON.stringify(answers.map(({ body }) => body)), /lines.0.quantity must be at most 0/)
    }))

  it.effect("are held to the units sold by the database, also where a writer does not count", () =>
    Effect.gen(function*() {
      const order = yield* sold(1)
      const id = (yield* ask(order)).text("data.id")
      const copy = newId()
      const again = onDatabase((sql) =>
        sql`with made as (insert into order_returns select ${copy}::uuid, organization_id, order_id, ${copy}, status, photos,
              null, null, null, null, null, null, null, now(), now() from order_returns where id = ${id}::uuid)
            insert into order_return_lines select organization_id, ${copy}::uuid, order_line_id, 1, null, 0, '[]'
            from order_return_lines where return_id = ${id}::uuid`
      )
      assert.match(inspect(yield* Effect.exit(again), { depth: 20 }), /returns_within_sale/)
    }))

  it.effect("give their units back when they are rejected or cancelled, and count units that were refunded", () =>
    Effect.gen(function*() {
      const order = yield* sold(2)
      const first = (yield* ask(order, 2)).text("data.id")
      refused(yield* step(order, first, "reject", { reason: "" }), 422, "VALIDATION_FAILED")
      const rejected = yield* expecting(200, step(order, first, "reject", { reason: "It was worn." }))
      assert.deepInclude(rejected.at("data"), { status: "rejected", rejectionReason: "It was worn." })
      const second = (yield* expecting(201, ask(order, 2))).text("data.id")
      yield* step(order, second, "approve")
      yield* expecting(200, step(order, second, "cancel"))
      const one = { lines: [{ lineItemId: order.lineId, quantity: 1 }] }
      yield* expecting(201, api("POST", `/api/orders/${order.id}/refunds`, { as: asStaff, body: one }))
      refused(yield* ask(order, 2), 422, "VALIDATION_FAILED")
      yield* expecting(201, ask(order, 1))
    }))

  it.effect("take their steps in order, each once", () =>
    Effect.gen(function*() {
      const order = yield* sold(2)
      const id = (yield* ask(order)).text("data.id")
      refused(yield* step(order, id, "receive", receipt(order)), 409, "CONFLICT", /requested.*approved.*receive/)
      const both = yield* Effect.all([step(order, id, "approve"), step(order, id, "approve")], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(both.map(({ status }) => status).toSorted(), [200, 409])
      const receiving = Array.from({ length: 3 }, () => step(order, id, "receive", receipt(order)))
      const receipts = yield* Effect.all(receiving, { concurrency: "unbounded" })
      assert.deepStrictEqual(receipts.map(({ status }) => status).toSorted(), [200, 409, 409])
      assert.deepStrictEqual(yield* stockOf(order.entityId), { onHand: 9, reserved: 0 })
      for (const [verb, body] of [["approve"], ["reject", { reason: "No." }], ["cancel"]] as const) {
        refused(yield* step(order, id, verb, body), 409, "CONFLICT")
      }
      refused(yield* step(order, newId(), "approve"), 404, "NOT_FOUND")
      refused(yield* step(yield* sold(), id, "approve"), 404, "NOT_FOUND")
    }))

  it.effect("refuse foreign and repeated lines, unpaid orders, and units that were never handed over", () =>
    Effect.gen(function*() {
      const order = yield* sold(2)
      const line = { lineItemId: order.lineId, quantity: 1 }
      for (const lines of [[], [line, line], [{ ...line, lineItemId: newId() }], [{ ...line, quantity: 0 }]]) {
        refused(
          yield* api("POST", `/api/orders/${order.id}/returns`, { as: asStaff, body: { lines } }),
          422,
          "VALIDATION_FAILED"
        )
      }
      yield* onDatabase((sql) => sql`update orders set amount_captured = null where id = ${order.id}::uuid`)
      refused(yield* ask(order), 422, "VALIDATION_FAILED", /paid/)
      const waiting = yield* sold(2, {}, false)
      const id = (yield* expecting(201, ask(waiting))).text("data.id")
      yield* step(waiting, id, "approve")
      refused(yield* step(waiting, id, "receive", receipt(waiting)), 422, "VALIDATION_FAILED", /not handed over/)
      assert.deepStrictEqual(yield* stockOf(waiting.entityId), { onHand: 10, reserved: 2 })
      refused(yield* step(waiting, id, "receive", receipt(waiting, 2)), 422, "VALIDATION_FAILED", /at most 1/)
    }))

  it.effect("post nothing for goods that are not counted", () =>
    Effect.gen(function*() {
      const order = yield* sold(1, { type: "service" })
      yield* aWarehouse()
      yield* received(order)
      assert.deepStrictEqual(yield* stockOf(order.entityId), { onHand: 0, reserved: 0 })
    }))

  it.effect("are for staff with returns:manage, and for the buyer of the order", () =>
    Effect.gen(function*() {
      const order = yield* sold(2)
      refused(yield* ask(order, 1, {}, order.buyer), 403, "FORBIDDEN")
      refused(yield* askOwn(order, 1, asCustomer("another")), 404, "NOT_FOUND")
      const id = (yield* expecting(201, askOwn(order))).text("data.id")
      refused(yield* step(order, id, "approve", undefined, order.buyer), 403, "FORBIDDEN")
      const cancel = (as: typeof asAdmin) => api("POST", `/api/me/orders/${order.id}/returns/${id}/cancel`, { as })
      refused(yield* cancel(asCustomer("another")), 404, "NOT_FOUND")
      assert.strictEqual((yield* cancel(order.buyer)).text("data.status"), "cancelled")
      refused(yield* api("GET", `/api/orders/${newId()}/returns`, { as: asStaff }), 404, "NOT_FOUND")
    }))

  it.effect("of buyers end some days after the delivery, else after the order", () =>
    Effect.gen(function*() {
      const days = (count: number) => new Date(Date.now() - count * 86_400_000)
      const placed = (id: string, date: Date) =>
        onDatabase((sql) => sql`update orders set placed_at = ${date} where id = ${id}::uuid`)
      const late = yield* sold(1, {}, false)
      yield* placed(late.id, days(31))
      const tooLate = yield* askOwn(late)
      refused(tooLate, 422, "VALIDATION_FAILED", /within 30 days/)
      assert.strictEqual(at(tooLate.body, "error.details.issues.0.code"), "too_late")
      yield* expecting(201, ask(late))
      const delivered = yield* sold(2)
      yield* placed(delivered.id, days(300))
      yield* expecting(201, askOwn(delivered))
      yield* onDatabase((sql) =>
        sql`update fulfillments set shipped_at = ${days(40)}, delivered_at = ${
          days(31)
        } where order_id = ${delivered.id}::uuid`
      )
      refused(yield* askOwn(delivered), 422, "VALIDATION_FAILED")
    }))

  it.effect("repeat the answer of a repeated Idempotency-Key", () =>
    Effect.gen(function*() {
      const order = yield* sold(2)
      const body = { lines: [{ lineItemId: order.lineId, quantity: 1 }] }
      const call = { as: asStaff, body, headers: { "idempotency-key": newId() } }
      const made = yield* expecting(201, api("POST", `/api/orders/${order.id}/returns`, call))
      const again = yield* api("POST", `/api/orders/${order.id}/returns`, call)
      assert.deepStrictEqual(again.body, made.body)
      assert.lengthOf((yield* api("GET", `/api/orders/${order.id}/returns`, { as: asStaff })).list("data"), 1)
    }))
})
