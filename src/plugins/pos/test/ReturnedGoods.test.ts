import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase, refused, stockOf } from "../../../../test/checkout/CheckoutFixtures.ts"
import { aProduct } from "../../../../test/support/Purchase.ts"
import { api, asAdmin, live, testAppLayer } from "../../../../test/support/TestApp.ts"
import { pos } from "../index.ts"
import { aSale, aTill, complete, get, pay, post, type Till } from "./Till.ts"

const shop = layer(testAppLayer({ plugins: [pos()] }, { logLevel: "none" }), live)

const patch = (path: string, body: object, as: typeof asAdmin = asAdmin) =>
  api("PATCH", `/api/pos${path}`, { as, body })

const sold = Effect.fnUntraced(function*(till: Till, quantity: number) {
  const sale = yield* aSale(till, quantity)
  yield* pay(sale.path, quantity * 1_000)
  const done = yield* complete(sale.path)
  const orderId = done.text("data.transaction.orderId")
  const order = yield* api("GET", `/api/orders/${orderId}`, { as: asAdmin })
  return { ...sale, orderId, lineId: order.text("data.lineItems.0.id") }
})

const exchangeOf = (till: Till, of: { orderId: string; lineId: string }, entityId: string) => ({
  shiftId: till.shiftId,
  terminalId: till.terminalId,
  originalOrderId: of.orderId,
  returnItems: [{ originalLineItemId: of.lineId, quantity: 1, reason: "wrong_item" }],
  replacementItems: [{ entityId, quantity: 1 }]
})
const exchange = (till: Till, of: { orderId: string; lineId: string }, entityId: string, body: object = {}) =>
  post("/exchanges", { ...exchangeOf(till, of, entityId), ...body })

shop("exchanges", (it) => {
  it.effect("are in the currency of the order", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const sale = yield* sold(till, 1)
      const entityId = yield* aProduct({ price: 1_000, stock: 5, currency: "JPY" })
      const answer = yield* exchange(till, sale, entityId, { currency: "JPY" })
      assert.strictEqual(answer.status, 422, JSON.stringify(answer.body).slice(0, 500))
    }))

  it.effect("keep what the return pays", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const [sale, dear] = [yield* sold(till, 1), yield* aProduct({ price: 1_500, stock: 5 })]
      const open = yield* exchange(till, sale, dear)
      const path = `/transactions/${open.text("data.transaction.id")}`
      const paymentId = open.text("data.transaction.payments.0.id")
      const removed = yield* api("DELETE", `/api/pos${path}/payments/${paymentId}`, { as: asAdmin })
      refused(removed, 409, "CONFLICT")
    }))

  it.effect("that a request made whose process died are found by its repeat, complete or not", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      for (const [price, status] of [[1_000, "completed"], [1_500, "open"]] as const) {
        const [sale, other] = [yield* sold(till, 1), yield* aProduct({ price, stock: 5 })]
        const call = {
          as: asAdmin,
          headers: { "idempotency-key": randomUUID() },
          body: exchangeOf(till, sale, other)
        }
        const first = yield* api("POST", "/api/pos/exchanges", call)
        yield* onDatabase((sql) =>
          sql`update idempotency_keys set status = 'running', response_status = null, encrypted_response = null,
              locked_until = now() - interval '1 second' where status = 'done'`
        )
        const again = yield* api("POST", "/api/pos/exchanges", call)
        assert.deepStrictEqual([again.status, again.body], [201, first.body])
        assert.strictEqual(again.at("data.transaction.status"), status)
        assert.strictEqual((yield* stockOf(other)).onHand, status === "open" ? 5 : 4)
      }
    }))

  it.effect("that cannot be completed leave nothing open", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const [sale, gone] = [yield* sold(till, 1), yield* aProduct({ price: 1_000, stock: 0 })]
      const answer = yield* exchange(till, sale, gone)
      assert.strictEqual(answer.status, 422, JSON.stringify(answer.body))
      const open = yield* get(`/transactions?shiftId=${till.shiftId}&status=open`)
      assert.deepStrictEqual(open.list("data").length, 0)
    }))
})

shop("returns", (it) => {
  it.effect("note that a defective unit was restocked when it was", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const sale = yield* sold(till, 1)
      const back = yield* post("/returns", {
        shiftId: till.shiftId,
        terminalId: till.terminalId,
        originalOrderId: sale.orderId,
        items: [{ originalLineItemId: sale.lineId, quantity: 1, reason: "defective", restock: true }],
        payment: { method: "cash" }
      })
      assert.deepStrictEqual(
        [(yield* stockOf(sale.entityId)).onHand, back.at("data.returnItems.0.restock")],
        [50, true]
      )
    }))

  it.effect("one by one give back the tax of their line, to the last cent", () =>
    Effect.gen(function*() {
      yield* api("POST", "/api/tax/rates", { as: asAdmin, body: { name: "VAT", country: "FR", rateBps: 1_000 } })
      const till = yield* aTill({ address: { line1: "1 Rue", city: "Paris", postalCode: "75001", country: "FR" } })
      const sale = yield* aSale(till, 3)
      yield* patch(`${sale.path}/items/${sale.itemId}`, { unitPrice: 1_003 })
      yield* pay(sale.path, 3_310)
      const done = yield* complete(sale.path)
      const orderId = done.text("data.transaction.orderId")
      const order = yield* api("GET", `/api/orders/${orderId}`, { as: asAdmin })
      assert.strictEqual(order.at("data.taxTotal"), 301, JSON.stringify(done.body))
      for (const _ of [1, 2, 3]) {
        yield* post("/returns", {
          shiftId: till.shiftId,
          terminalId: till.terminalId,
          originalOrderId: orderId,
          items: [{ originalLineItemId: order.text("data.lineItems.0.id"), quantity: 1, reason: "other" }],
          payment: { method: "cash" }
        })
      }
      const report = yield* get(`/shifts/${till.shiftId}/report`)
      assert.deepStrictEqual(report.at("data.taxByRate"), [{ rateBps: 1_000, net: 0, tax: 0 }])
    }))
})
