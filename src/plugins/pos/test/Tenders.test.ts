import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { at } from "../../../../test/support/TestApp.ts"
import { cashier, code, openTills, picked, type TillShop } from "./TillShop.ts"

/** contract-tills-channels A.3 (2) and A.4. */
describe("payments at a till", () => {
  let shop: TillShop
  let till: Awaited<ReturnType<TillShop["till"]>>
  beforeAll(async () => {
    shop = await openTills()
    till = await shop.till()
  })
  afterAll(() => shop.close())

  const due = async (path: string) => (await shop.read(path)).at("data.amountDue")
  const refuse = (path: string, body: object, expected = "422 VALIDATION_FAILED") =>
    shop.refused(expected, "POST", `${path}/payments`, body)

  it("are collected one by one, by several means, and are the tenders of the order", async () => {
    const { path } = await shop.sale(till, 1_000, 3)
    const card = await shop.pay(path, 1_200, { method: "card", reference: "SLIP-77" })
    assert.deepInclude(card.at("data"), {
      method: "card",
      amount: 1_200,
      changeGiven: 0,
      tip: 0,
      rounding: 0,
      status: "collected",
      reference: "SLIP-77",
      provider: null,
      amountDue: 1_800,
      requestedBy: "test-admin-1"
    })
    const voucher = await shop.pay(path, 800, { method: "other", reference: "voucher 9", metadata: { by: "hand" } })
    assert.deepStrictEqual(picked(voucher, "status", "metadata", "amountDue"), ["collected", { by: "hand" }, 1_000])
    const cash = await shop.pay(path, 2_000, { changeGiven: 1_000 })
    assert.deepStrictEqual(picked(cash, "amount", "changeGiven", "amountDue"), [2_000, 1_000, 0])
    await refuse(path, { method: "cash", amount: 1 }, "409 CONFLICT")
    const done = await shop.complete(path)
    const order = await shop.core("GET", `/orders/${done.text("data.transaction.orderId")}`)
    const tenders = order.list("data.tenders").map((one) => [at(one, "method"), at(one, "captured")])
    assert.deepStrictEqual(tenders, [["pos-card", 1_200], ["pos-other", 800], ["pos-cash", 1_000]])
    assert.deepStrictEqual(picked(order, "amountDue", "grandTotal", "amountCaptured"), [0, 3_000, 3_000])
    const read = await shop.read(`${path}/payments/${cash.text("data.id")}`)
    assert.deepStrictEqual(picked(read, "id", "status"), [cash.at("data.id"), "collected"])
    await shop.refused("404 NOT_FOUND", "GET", `${path}/payments/${randomUUID()}`)
  })

  it("are refused with amounts and means that cannot be", async () => {
    const { path } = await shop.sale(till, 1_000)
    const wrongs = [
      {},
      { method: "cheque", amount: 1 },
      { method: "cash", amount: -1 },
      { method: "cash", amount: 1.5 },
      { method: "cash", amount: 2_000, changeGiven: 2_001 },
      { method: "cash", amount: 2_000, changeGiven: 500 },
      { method: "cash", amount: 500, changeGiven: 500 },
      { method: "cash", amount: 1_000, tip: 1 },
      { method: "cash", amount: 1_001 },
      { method: "card", amount: 0 },
      { method: "other", amount: 0, reference: "x" },
      { method: "card", amount: 1_001 },
      { method: "card", amount: 1_000, changeGiven: 1 },
      { method: "other", amount: 1_001, reference: "x" },
      { method: "other", amount: 1_000 },
      { method: "other", amount: 1_000, reference: "x", tip: 1 },
      { method: "gift_card", amount: 1_000 },
      { method: "card", amount: 1_000, provider: "unknown" }
    ]
    const passed: Array<unknown> = []
    for (const wrong of wrongs) {
      const got = await shop.ask("POST", `/pos${path}/payments`, wrong)
      if (got.status !== 422) passed.push({ sent: wrong, got: code(got) })
      if (got.status === 201) await shop.done("DELETE", `${path}/payments/${got.text("data.id")}`)
    }
    assert.deepStrictEqual(passed, [])
    assert.strictEqual(await due(path), 1_000)
    await shop.refused("404 NOT_FOUND", "POST", `/transactions/${randomUUID()}/payments`, { method: "cash", amount: 1 })
  })

  it("are more than nothing, unless nothing is left after rounding", async () => {
    const small = await shop.sale(await shop.till({ cashRounding: 5 }), 2)
    assert.deepStrictEqual(picked(await shop.pay(small.path, 0), "rounding", "amountDue"), [-2, 0])
    await shop.complete(small.path)
    const { path } = await shop.sale(till, 1_000)
    await refuse(path, { method: "cash", amount: 0 })
  })

  it("are taken back while the sale is open, and stay in it as cancelled", async () => {
    const { path } = await shop.sale(till, 1_000)
    const paid = await shop.pay(path, 600)
    const id = paid.text("data.id")
    const gone = await shop.done("DELETE", `${path}/payments/${id}`)
    assert.deepStrictEqual([gone.status, ...picked(gone, "id", "status")], [200, id, "cancelled"])
    assert.deepStrictEqual(picked(await shop.read(path), "amountDue", "payments.0.status"), [1_000, "cancelled"])
    await shop.refused("404 NOT_FOUND", "DELETE", `${path}/payments/${randomUUID()}`)
    const { path: closed } = await shop.sold(till)
    const payment = (await shop.read(closed)).text("data.payments.0.id")
    await shop.refused("422 INVALID_TRANSITION", "DELETE", `${closed}/payments/${payment}`)
  })

  it("are taken back by who may void, or with their approval", async () => {
    const at = await shop.till({}, 0, cashier)
    const one = await shop.start(at, {}, cashier)
    await shop.add(one.path, { entityId: await shop.product() }, cashier)
    const body = { method: "cash", amount: 600 }
    const paid = (await shop.done("POST", `${one.path}/payments`, body, cashier)).text("data.id")
    const path = `${one.path}/payments/${paid}`
    await shop.refused("403 OVERRIDE_REQUIRED", "DELETE", path, undefined, cashier)
    const { token } = await shop.override("payment")
    assert.strictEqual((await shop.withToken(token, "DELETE", path)).at("data.status"), "cancelled")
  })

  it("happen once under one Idempotency-Key, as do sales, completions and returns", async () => {
    const keys = Array.from({ length: 4 }, () => `till-${randomUUID()}`)
    const [startKey = "", payKey = "", doneKey = "", returnKey = ""] = keys
    const twice = async (key: string, path: string, body: object) => {
      const [first, again] = [
        await shop.underKey(key, "POST", path, body),
        await shop.underKey(key, "POST", path, body)
      ]
      assert.deepStrictEqual([first.status, again.status, again.body], [201, 201, first.body])
      return first
    }
    const begun = await twice(startKey, "/transactions", { shiftId: till.shiftId, terminalId: till.terminalId })
    const path = `/transactions/${begun.text("data.id")}`
    const entityId = await shop.product()
    await shop.add(path, { entityId, quantity: 2 })
    await twice(payKey, `${path}/payments`, { method: "cash", amount: 1_500 })
    assert.strictEqual(await due(path), 500)
    const other = await shop.underKey(payKey, "POST", `${path}/payments`, { method: "cash", amount: 400 })
    assert.include([409, 422], other.status)
    assert.strictEqual(await due(path), 500)
    await shop.pay(path, 500)
    const done = await twice(doneKey, `${path}/complete`, {})
    const orderId = done.text("data.transaction.orderId")
    const lineId = (await shop.core("GET", `/orders/${orderId}`)).text("data.lineItems.0.id")
    await twice(returnKey, "/returns", {
      shiftId: till.shiftId,
      terminalId: till.terminalId,
      originalOrderId: orderId,
      items: [{ originalLineItemId: lineId, quantity: 1, reason: "changed_mind" }],
      payment: { method: "cash" }
    })
    assert.deepStrictEqual(await shop.stock(entityId), { onHand: 99, reserved: 0 })
    assert.strictEqual((await shop.core("GET", `/orders/${orderId}/refunds`)).list("data").length, 1)
  })

  it("under one key that come eight times at once are one", async () => {
    const { path } = await shop.sale(till, 1_000, 8)
    const key = `till-${randomUUID()}`
    const send = () => shop.underKey(key, "POST", `${path}/payments`, { method: "cash", amount: 1_000 })
    const answers = await Promise.all(Array.from({ length: 8 }, send))
    for (const { status } of answers) assert.include([201, 409], status)
    assert.strictEqual(await due(path), 7_000)
    // Without a key each pays, and never more than is left.
    const pay = () => shop.ask("POST", `/pos${path}/payments`, { method: "cash", amount: 1_000 })
    const more = await Promise.all(Array.from({ length: 8 }, pay))
    for (const { status } of more) assert.include([201, 409], status)
    assert.strictEqual(await due(path), 7_000 - 1_000 * more.filter(({ status }) => status === 201).length)
  })

  it("in cash are rounded at the last one, and the order has its exact total", async () => {
    const at = await shop.till({ cashRounding: 5 })
    const cases = [[998, 1_000, 2], [997, 995, -2], [1_002, 1_000, -2], [1_000, 1_000, 0]] as const
    for (const [price, rounded, rounding] of cases) {
      const { path } = await shop.sale(at, price)
      const paid = await shop.pay(path, 2_000, { changeGiven: 2_000 - rounded })
      assert.deepStrictEqual(picked(paid, "rounding", "amountDue"), [rounding, 0], String(price))
      const done = await shop.complete(path)
      assert.deepStrictEqual(picked(done, "transaction.rounding", "transaction.total"), [rounding, price])
      const order = await shop.core("GET", `/orders/${done.text("data.transaction.orderId")}`)
      assert.deepStrictEqual(picked(order, "grandTotal", "tenders.0.amount"), [price, price])
    }
    const { path } = await shop.sale(at, 998)
    // Not the last one, and not in cash: exact.
    assert.strictEqual((await shop.pay(path, 500)).at("data.rounding"), 0)
    assert.deepStrictEqual(picked(await shop.pay(path, 498, { method: "card" }), "rounding", "amountDue"), [0, 0])
    const report = await shop.read(`/shifts/${at.shiftId}/report`)
    assert.deepStrictEqual(picked(report, "rounding", "salesTotal", "cash.expected"), [-2, 3_997, 13_995])
  })

  it("have tips beyond the total, which are set within a day and stand in the report", async () => {
    const at = await shop.till({ tipMode: "on_receipt" })
    const { path } = await shop.sale(at, 1_000)
    const paid = await shop.pay(path, 1_000, { method: "card", tip: 150 })
    assert.deepStrictEqual(picked(paid, "tip", "amountDue"), [150, 0])
    const done = await shop.complete(path)
    assert.deepStrictEqual(picked(done, "transaction.tipTotal", "transaction.total"), [150, 1_000])
    const tip = `${path}/payments/${paid.text("data.id")}/tip`
    const changed = await shop.done("POST", tip, { amount: 200 })
    assert.deepStrictEqual([changed.status, changed.at("data.tip")], [201, 200])
    const cash = await shop.sale(at, 1_000)
    await shop.pay(cash.path, 1_000, { tip: 300 })
    await shop.complete(cash.path)
    const report = await shop.read(`/shifts/${at.shiftId}/report`)
    assert.deepStrictEqual(picked(report, "tips", "salesTotal", "cash.expected"), [500, 2_000, 11_300])
    const order = await shop.core("GET", `/orders/${done.text("data.transaction.orderId")}`)
    assert.strictEqual(order.at("data.grandTotal"), 1_000)
    await shop.refused("422 VALIDATION_FAILED", "POST", tip, { amount: -1 })
    await shop.refused("404 NOT_FOUND", "POST", `${path}/payments/${randomUUID()}/tip`, { amount: 1 })
  })

  it("by gift card take what the card has, are given back with it, and show the last four signs", async () => {
    const card = await shop.giftCard(1_500)
    const { path } = await shop.sale(till, 1_000, 2)
    const paid = await shop.pay(path, 2_000, { method: "gift_card", reference: card.code })
    assert.deepStrictEqual(picked(paid, "amount", "amountDue", "status"), [1_500, 500, "collected"])
    assert.strictEqual(await card.balance(), 0)
    const shown = JSON.stringify([paid.body, (await shop.read(path)).body])
    assert.include(shown, card.code.slice(-4))
    assert.notInclude(shown, card.code)
    const id = paid.text("data.id")
    assert.strictEqual((await shop.done("DELETE", `${path}/payments/${id}`)).at("data.status"), "cancelled")
    assert.strictEqual(await card.balance(), 1_500)
    await shop.pay(path, 700, { method: "gift_card", reference: card.code })
    await shop.done("POST", `${path}/void`, { reason: "x" })
    assert.strictEqual(await card.balance(), 1_500)
    const sold = await shop.sale(till, 1_000)
    await shop.pay(sold.path, 1_000, { method: "gift_card", reference: card.code })
    const done = await shop.complete(sold.path)
    const order = await shop.core("GET", `/orders/${done.text("data.transaction.orderId")}`)
    assert.strictEqual(order.at("data.tenders.0.amount"), 1_000)
    assert.notInclude(JSON.stringify([done.body, order.body]), card.code)
    const stored = await shop.app.db.query(
      `select (select string_agg(p::text, '') from pos_payments p) || (select string_agg(o::text, '') from orders o)
        || (select string_agg(e::text, '') from outbox_events e) as text`
    )
    assert.notInclude(String(stored[0]?.["text"]), card.code)
    await shop.core("POST", `/orders/${order.text("data.id")}/refunds`, {})
    assert.strictEqual(await card.balance(), 1_500)
  })

  it("by a card that is unknown, empty or of another currency are declined", async () => {
    const { path } = await shop.sale(till, 1_000)
    const empty = await shop.giftCard(1)
    await shop.core("POST", `/gift-cards/${empty.id}/adjust`, { delta: -1, note: "x" })
    const euros = (await shop.core("POST", "/gift-cards", { amount: 9, currency: "EUR" })).text("data.code")
    const off = await shop.giftCard(9)
    await shop.core("POST", `/gift-cards/${off.id}/disable`)
    for (const reference of ["AAAA-BBBB-CCCC-DDDD", empty.code, euros, off.code]) {
      await refuse(path, { method: "gift_card", amount: 500, reference }, "422 PAYMENT_DECLINED")
    }
    const sale = await shop.read(path)
    assert.strictEqual(sale.at("data.amountDue"), 1_000)
    for (const payment of sale.list("data.payments")) {
      assert.strictEqual(Reflect.get(Object(payment), "status"), "failed")
    }
    await shop.pay(path, 1_000)
    await shop.complete(path)
  })

  it("are debited once when the process dies between asking and noting", async () => {
    const { query } = shop.app.db
    const [card, { path }] = [await shop.giftCard(5_000), await shop.sale(till, 1_000)]
    await query("create function stop() returns trigger language plpgsql as $$ begin raise 'x'; end $$")
    await query("create trigger stop before update on pos_payments for each row execute function stop()")
    await refuse(path, { method: "gift_card", amount: 1_000, reference: card.code }, "500 INTERNAL_ERROR")
    await query("drop function stop() cascade")
    const pending = (await shop.read(path)).text("data.payments.0.id")
    await shop.refused("409 CONFLICT", "POST", `${path}/complete`)
    const retried = await shop.done("POST", `${path}/payments/${pending}/retry`)
    assert.strictEqual(retried.at("data.status"), "collected")
    await shop.complete(path)
    assert.strictEqual(await card.balance(), 4_000)
  })

  it("are no payment methods of a checkout", async () => {
    const entityId = await shop.product()
    for (const paymentMethodId of ["pos", "pos-cash", "cash", "pos-card", "exchange"]) {
      const cart = await shop.core("POST", "/carts", { currency: "USD" }, null)
      const [cartId, secret] = [cart.text("data.id"), { "x-cart-secret": cart.text("data.secret") }]
      await shop.ask("POST", `/carts/${cartId}/items`, { entityId, quantity: 1 }, null, secret)
      const body = { cartId, paymentMethodId, currency: "USD" }
      const got = await shop.ask("POST", "/checkout", body, null, secret)
      // Unknown methods go to the default provider, which asks for its money.
      const paidBy = got.status < 300 ? got.at("data.payment.provider") : "test"
      assert.strictEqual(paidBy, "test", `${paymentMethodId}: ${JSON.stringify(got.body)}`)
    }
  })

  it("get no tip after a day", async () => {
    const at = await shop.till({ tipMode: "on_receipt" })
    const { path } = await shop.sale(at, 1_000)
    const paid = await shop.pay(path, 1_000, { method: "card" })
    await shop.complete(path)
    const tip = `${path}/payments/${paid.text("data.id")}/tip`
    shop.app.clock.advance("23 hours")
    assert.strictEqual((await shop.done("POST", tip, { amount: 100 })).at("data.tip"), 100)
    shop.app.clock.advance("2 hours")
    const late = await shop.ask("POST", `/pos${tip}`, { amount: 200 })
    assert.strictEqual(late.status, 422, JSON.stringify(late.body))
  })
})
