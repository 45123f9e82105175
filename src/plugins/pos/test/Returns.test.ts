import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase, refused, stockOf } from "../../../../test/checkout/CheckoutFixtures.ts"
import { scriptedProvider } from "../../../../test/checkout/ScriptedProvider.ts"
import { aCartWith, aProduct, checkOut } from "../../../../test/support/Purchase.ts"
import { api, asAdmin, live, testAppLayer } from "../../../../test/support/TestApp.ts"
import { giftCards } from "../../gift-cards/index.ts"
import { notifications } from "../../notifications/index.ts"
import { pos } from "../index.ts"
import { aSale, aTill, complete, get, pay, post, type Till } from "./Till.ts"

const provider = scriptedProvider()
const shop = layer(
  testAppLayer({
    plugins: [giftCards(), notifications(), pos({ giftCards: true, printing: true })],
    payments: { adapters: [provider.adapter] }
  }, { logLevel: "none" }),
  live
)

/** A sale of units for 10.00 in cash, and its order. */
const sold = Effect.fnUntraced(function*(till: Till, quantity: number) {
  const sale = yield* aSale(till, quantity)
  yield* pay(sale.path, quantity * 1_000)
  const done = yield* complete(sale.path)
  const orderId = done.text("data.transaction.orderId")
  const order = yield* api("GET", `/api/orders/${orderId}`, { as: asAdmin })
  return { ...sale, orderId, lineId: order.text("data.lineItems.0.id") }
})

/** An order of the web, paid by card. */
const onTheWeb = Effect.gen(function*() {
  const entityId = yield* aProduct({ price: 1_000, stock: 50 })
  const order = yield* checkOut(yield* aCartWith(entityId, 1), {
    paymentMethodId: "scripted",
    paymentMethodToken: "web-1"
  })
  const orderId = order.text("data.id")
  for (const status of ["confirmed", "processing", "fulfilled"]) {
    yield* api("PATCH", `/api/orders/${orderId}/status`, { as: asAdmin, body: { status } })
  }
  return { entityId, orderId, lineId: order.text("data.lineItems.0.id") }
})

const takeBack = (till: Till, of: { orderId: string; lineId: string }, method = "cash") =>
  post("/returns", {
    shiftId: till.shiftId,
    terminalId: till.terminalId,
    originalOrderId: of.orderId,
    items: [{ originalLineItemId: of.lineId, quantity: 1, reason: "changed_mind" }],
    payment: { method }
  })

const reportOf = ({ shiftId }: Till) => get(`/shifts/${shiftId}/report`)
const refundedOf = (orderId: string) =>
  Effect.map(api("GET", `/api/orders/${orderId}`, { as: asAdmin }), (order) => order.at("data.refundedTotal"))

shop("goods that come back to a till", (it) => {
  it.effect("of a web order in cash ask no provider, and use up what can be given back", () =>
    Effect.gen(function*() {
      const [till, order] = [yield* aTill(), yield* onTheWeb]
      const back = yield* takeBack(till, order)
      assert.strictEqual(back.status, 201, JSON.stringify(back.body))
      assert.strictEqual(provider.callsOf("web-1", "refund"), 0)
      assert.strictEqual(yield* refundedOf(order.orderId), 1_000)
      assert.isAtLeast((yield* takeBack(till, order)).status, 400)
      assert.isAtLeast(
        (yield* api("POST", `/api/orders/${order.orderId}/refund`, { as: asAdmin, body: {} })).status,
        400
      )
      assert.deepStrictEqual(provider.paymentOf("web-1")?.refunded, 0)
    }))

  it.effect("are given back as a new gift card, whose code is in that answer only", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const sale = yield* sold(till, 1)
      const back = yield* takeBack(till, sale, "gift_card")
      const code = back.text("data.giftCard.code")
      const card = yield* api("POST", "/api/gift-cards/check-balance", { body: { code } })
      assert.strictEqual(card.at("data.balance"), 1_000, JSON.stringify(card.body))
      assert.strictEqual((yield* reportOf(till)).at("data.cash.expected"), 11_000)
      assert.notInclude(JSON.stringify((yield* get(`/transactions/${back.text("data.transaction.id")}`)).body), code)
    }))

  it.effect("have receipts, which the till's printer prints", () =>
    Effect.gen(function*() {
      const till = yield* aTill({ printerId: "front" })
      const sale = yield* sold(till, 1)
      const printed = yield* post(`${sale.path}/receipt/print`)
      assert.strictEqual(printed.status, 201, JSON.stringify(printed.body))
      const job = yield* api("GET", "/api/notifications/print/next?printerId=front", { as: asAdmin })
      assert.deepStrictEqual([job.at("data.id"), job.at("data.type")], [printed.at("data.printJobId"), "receipt"])
      assert.include(JSON.stringify(job.at("data.content")), sale.receiptNumber)
      assert.strictEqual((yield* get(`${sale.path}/receipt`)).at("data.reprint"), 1)
      const html = yield* get(`${sale.path}/receipt?format=html`)
      assert.include(String(html.body), "COPY 1")
      const other = yield* sold(yield* aTill(), 1)
      refused(yield* post(`${other.path}/receipt/print`), 422, "VALIDATION_FAILED")
      refused(yield* get(`${(yield* aSale(till)).path}/receipt`), 422, "INVALID_TRANSITION")
    }))

  it.effect("one by one give back the tax of their line, to the last cent", () =>
    Effect.gen(function*() {
      yield* api("POST", "/api/tax/rates", { as: asAdmin, body: { name: "VAT", country: "FR", rateBps: 1_000 } })
      const till = yield* aTill({ address: { line1: "1 Rue", city: "Paris", postalCode: "75001", country: "FR" } })
      const sale = yield* aSale(till, 3)
      yield* api("PATCH", `/api/pos${sale.path}/items/${sale.itemId}`, { as: asAdmin, body: { unitPrice: 1_003 } })
      yield* pay(sale.path, 3_310)
      const done = yield* complete(sale.path)
      const orderId = done.text("data.transaction.orderId")
      const order = yield* api("GET", `/api/orders/${orderId}`, { as: asAdmin })
      const lineId = order.text("data.lineItems.0.id")
      assert.strictEqual(order.at("data.taxTotal"), 301, JSON.stringify(done.body))
      for (const _ of [1, 2, 3]) yield* takeBack(till, { orderId, lineId })
      const report = yield* get(`/shifts/${till.shiftId}/report`)
      assert.deepStrictEqual(report.at("data.taxByRate"), [{ rateBps: 1_000, net: 0, tax: 0 }])
    }))
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
