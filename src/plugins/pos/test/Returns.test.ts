import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { refused, stockOf } from "../../../../test/checkout/CheckoutFixtures.ts"
import { scriptedProvider } from "../../../../test/checkout/ScriptedProvider.ts"
import { aCartWith, aProduct, checkOut } from "../../../../test/support/Purchase.ts"
import { type Answer, api, asAdmin, at, live, testAppLayer } from "../../../../test/support/TestApp.ts"
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
const onTheWeb = Effect.fnUntraced(function*(quantity: number, token: string) {
  const entityId = yield* aProduct({ price: 1_000, stock: 50 })
  const order = yield* checkOut(yield* aCartWith(entityId, quantity), {
    paymentMethodId: "scripted",
    paymentMethodToken: token
  })
  const orderId = order.text("data.id")
  for (const status of ["confirmed", "processing", "fulfilled"]) {
    yield* api("PATCH", `/api/orders/${orderId}/status`, { as: asAdmin, body: { status } })
  }
  return { entityId, orderId, lineId: order.text("data.lineItems.0.id") }
})

const takeBack = (
  till: Till,
  of: { orderId: string; lineId: string },
  item: object = {},
  payment: object = { method: "cash" }
) =>
  post("/returns", {
    shiftId: till.shiftId,
    terminalId: till.terminalId,
    originalOrderId: of.orderId,
    items: [{ originalLineItemId: of.lineId, quantity: 1, reason: "changed_mind", ...item }],
    payment
  })

const figures = (answer: Answer, ...fields: ReadonlyArray<string>) => fields.map((field) => answer.at(`data.${field}`))
const reportOf = ({ shiftId }: Till) => get(`/shifts/${shiftId}/report`)
const refundedOf = (orderId: string) =>
  Effect.map(api("GET", `/api/orders/${orderId}`, { as: asAdmin }), (order) => order.at("data.refundedTotal"))

shop("goods that come back to a till", (it) => {
  it.effect("are given back in cash, with a fee kept, their units in stock, and the drawer lower", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const sale = yield* sold(till, 3)
      const back = yield* takeBack(till, sale, { quantity: 2, restockingFee: 150 })
      assert.strictEqual(back.status, 201, JSON.stringify(back.body))
      assert.deepStrictEqual(
        figures(
          back,
          "refundTotal",
          "transaction.type",
          "transaction.status",
          "returnItems.0.refundAmount",
          "payment.status"
        ),
        [1_850, "return", "completed", 1_850, "refunded"]
      )
      assert.deepStrictEqual(yield* stockOf(sale.entityId), { onHand: 49, reserved: 0 })
      assert.strictEqual(yield* refundedOf(sale.orderId), 1_850)
      assert.deepStrictEqual(
        figures(yield* reportOf(till), "salesCount", "refundsCount", "refundsTotal", "cash.refunds", "cash.expected"),
        [1, 1, 1_850, 1_850, 10_000 + 3_000 - 1_850]
      )
    }))

  it.effect("are found by the number of the receipt, and given back in the coins that there are", () =>
    Effect.gen(function*() {
      const till = yield* aTill({ cashRounding: 5 })
      const sale = yield* aSale(till)
      yield* api("PATCH", `/api/pos${sale.path}/items/${sale.itemId}`, { as: asAdmin, body: { unitPrice: 1_002 } })
      yield* pay(sale.path, 1_000)
      yield* complete(sale.path)
      const found = yield* get(`/lookup/order/${sale.receiptNumber}`)
      assert.deepStrictEqual(
        [found.at("data.lines.0.returnable"), found.at("data.lines.0.totalPrice")],
        [1, 1_002],
        JSON.stringify(found.body)
      )
      const of = { orderId: found.text("data.orderId"), lineId: found.text("data.lines.0.originalLineItemId") }
      const back = yield* takeBack(till, of)
      assert.deepStrictEqual(figures(back, "refundTotal", "payment.amount", "payment.rounding"), [1_002, 1_000, -2])
      assert.deepStrictEqual(figures(yield* reportOf(till), "cash.expected", "rounding"), [10_000, 0])
      assert.strictEqual((yield* get(`/lookup/order/${sale.receiptNumber}`)).at("data.lines.0.returnable"), 0)
    }))

  it.effect("of a web order in cash ask no provider, and use up what can be given back", () =>
    Effect.gen(function*() {
      const [till, order] = [yield* aTill(), yield* onTheWeb(1, "web-1")]
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

  it.effect("go back to the original payment once", () =>
    Effect.gen(function*() {
      const [till, order] = [yield* aTill(), yield* onTheWeb(2, "web-2")]
      const back = yield* takeBack(till, order, {}, { method: "original" })
      assert.strictEqual(back.status, 201, JSON.stringify(back.body))
      assert.deepStrictEqual(provider.paymentOf("web-2")?.refunded, 1_000)
      assert.strictEqual((yield* reportOf(till)).at("data.cash.expected"), 10_000)
    }))

  it.effect("are taken back for as many units as were sold, of six requests at once too", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const sale = yield* sold(till, 2)
      const answers = yield* Effect.all(Array.from({ length: 6 }, () => takeBack(till, sale)), { concurrency: 6 })
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 2)
      assert.deepStrictEqual(yield* stockOf(sale.entityId), { onHand: 50, reserved: 0 })
      assert.deepStrictEqual(figures(yield* reportOf(till), "refundsCount", "cash.refunds"), [2, 2_000])
    }))

  it.effect("are refused with a fee above their worth, another amount, a closed shift, and change nothing", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const sale = yield* sold(till, 1)
      refused(yield* takeBack(till, sale, { restockingFee: 1_001 }), 422, "VALIDATION_FAILED")
      refused(yield* takeBack(till, sale, {}, { method: "cash", amount: 999 }), 422, "VALIDATION_FAILED")
      refused(yield* takeBack(till, sale, { quantity: 2 }), 422, "VALIDATION_FAILED")
      assert.strictEqual(yield* refundedOf(sale.orderId), 0)
      yield* post(`/shifts/${till.shiftId}/close`, { closingCount: 0 })
      refused(yield* takeBack(till, sale), 409, "CONFLICT")
      assert.deepStrictEqual(yield* stockOf(sale.entityId), { onHand: 49, reserved: 0 })
    }))

  it.effect("are given back as a new gift card, whose code is in that answer only", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const sale = yield* sold(till, 1)
      const back = yield* takeBack(till, sale, {}, { method: "gift_card" })
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

  it.effect("leave defective units out of stock", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const sale = yield* sold(till, 1)
      yield* takeBack(till, sale, { reason: "defective" })
      assert.deepStrictEqual(yield* stockOf(sale.entityId), { onHand: 49, reserved: 0 })
    }))
})

const exchange = (till: Till, of: { orderId: string; lineId: string }, entityId: string, quantity = 1) =>
  post("/exchanges", {
    shiftId: till.shiftId,
    terminalId: till.terminalId,
    originalOrderId: of.orderId,
    returnItems: [{ originalLineItemId: of.lineId, quantity: 1, reason: "wrong_item" }],
    replacementItems: [{ entityId, quantity, title: "Anything", taxAmount: 0 }]
  })

shop("an exchange at a till", (it) => {
  it.effect("for the same price is complete at once", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const [sale, other] = [yield* sold(till, 1), yield* aProduct({ price: 1_000, stock: 5 })]
      const done = yield* exchange(till, sale, other)
      assert.deepStrictEqual(
        figures(done, "netDelta", "returnTotal", "replacementTotal", "transaction.status"),
        [0, 1_000, 1_000, "completed"],
        JSON.stringify(done.body)
      )
      assert.strictEqual(yield* refundedOf(sale.orderId), 1_000)
      assert.deepStrictEqual([yield* stockOf(sale.entityId), yield* stockOf(other)].map(({ onHand }) => onHand), [
        50,
        4
      ])
      assert.strictEqual((yield* reportOf(till)).at("data.cash.expected"), 11_000)
    }))

  it.effect("for something dearer is paid before its order is made", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const [sale, other] = [yield* sold(till, 1), yield* aProduct({ price: 1_500, stock: 5 })]
      const open = yield* exchange(till, sale, other)
      assert.deepStrictEqual(
        figures(open, "netDelta", "replacementOrderId", "transaction.status", "transaction.amountDue"),
        [500, null, "open", 500],
        JSON.stringify(open.body)
      )
      assert.strictEqual(yield* refundedOf(sale.orderId), 0)
      const path = `/transactions/${open.text("data.transaction.id")}`
      refused(yield* post(`${path}/items`, { entityId: other }), 422, "INVALID_TRANSITION")
      yield* pay(path, 500)
      const done = yield* complete(path)
      assert.strictEqual(done.status, 201, JSON.stringify(done.body))
      assert.strictEqual(yield* refundedOf(sale.orderId), 1_000)
      const order = yield* api("GET", `/api/orders/${done.text("data.transaction.orderId")}`, { as: asAdmin })
      assert.deepStrictEqual(
        order.list("data.tenders").map((one) => [at(one, "method"), at(one, "captured")]),
        [["pos-exchange", 1_000], ["pos-cash", 500]]
      )
      assert.strictEqual((yield* reportOf(till)).at("data.cash.expected"), 11_500)
    }))

  it.effect("for something cheaper gives the rest back", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const [sale, other] = [yield* sold(till, 1), yield* aProduct({ price: 300, stock: 5 })]
      const done = yield* exchange(till, sale, other)
      assert.deepStrictEqual(
        figures(done, "netDelta", "transaction.status"),
        [-700, "completed"],
        JSON.stringify(done.body)
      )
      assert.strictEqual((yield* reportOf(till)).at("data.cash.expected"), 10_300)
      assert.isAtLeast((yield* takeBack(till, sale)).status, 400)
    }))
})
