import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase, refused, stockOf } from "../../../../test/checkout/CheckoutFixtures.ts"
import { api, asAdmin, at, live, testAppLayer } from "../../../../test/support/TestApp.ts"
import { giftCards } from "../../gift-cards/index.ts"
import { pos } from "../index.ts"
import { aSale, aTill, complete, get, pay, post } from "./Till.ts"

const shop = layer(testAppLayer({ plugins: [giftCards(), pos()] }, { logLevel: "none" }), live)

const aCard = Effect.fnUntraced(function*(amount: number) {
  const made = yield* api("POST", "/api/gift-cards", { as: asAdmin, body: { amount, currency: "USD" } })
  const path = `/api/gift-cards/${made.text("data.id")}`
  return {
    code: made.text("data.code"),
    balance: Effect.map(api("GET", path, { as: asAdmin }), (card) => card.at("data.balance"))
  }
})
const byCard = (path: string, code: string, amount: number) =>
  pay(path, amount, { method: "gift_card", reference: code })
const orderOf = (done: { readonly text: (path: string) => string }) =>
  api("GET", `/api/orders/${done.text("data.transaction.orderId")}`, { as: asAdmin })

shop("payments at a till", (it) => {
  it.effect("are tenders of the order, one by one, and never more than what is left", () =>
    Effect.gen(function*() {
      const { path } = yield* aSale(yield* aTill(), 3)
      assert.strictEqual((yield* pay(path, 1_000, { method: "card", reference: "slip 7" })).at("data.amountDue"), 2_000)
      refused(yield* pay(path, 2_001, { method: "card" }), 422, "VALIDATION_FAILED")
      refused(yield* pay(path, 500, { changeGiven: 501 }), 422, "VALIDATION_FAILED")
      refused(yield* pay(path, 500, { method: "card", changeGiven: 1 }), 422, "VALIDATION_FAILED")
      refused(yield* pay(path, 500, { method: "other" }), 422, "VALIDATION_FAILED")
      refused(yield* complete(path), 422, "VALIDATION_FAILED")
      assert.strictEqual(
        (yield* pay(path, 500, { method: "other", reference: "voucher 9" })).at("data.amountDue"),
        1_500
      )
      yield* pay(path, 2_000, { changeGiven: 500 })
      refused(yield* pay(path, 1), 409, "CONFLICT")
      const order = yield* orderOf(yield* complete(path))
      assert.deepStrictEqual(
        order.list("data.tenders").map((one) => [at(one, "method"), at(one, "captured")]),
        [["pos-card", 1_000], ["pos-other", 500], ["pos-cash", 1_500]]
      )
    }))

  it.effect("by gift card take what the card has, without its code in any answer, and give it back with the sale", () =>
    Effect.gen(function*() {
      const { balance, code } = yield* aCard(1_500)
      const { path } = yield* aSale(yield* aTill(), 2)
      const paid = yield* byCard(path, code, 2_000)
      assert.deepStrictEqual(
        [paid.status, paid.at("data.amount"), paid.at("data.amountDue")],
        [201, 1_500, 500],
        JSON.stringify(paid.body)
      )
      assert.strictEqual(yield* balance, 0)
      yield* pay(path, 500)
      const done = yield* complete(path)
      assert.strictEqual(done.status, 201, JSON.stringify(done.body))
      const order = yield* orderOf(done)
      for (const answer of [paid, done, order]) assert.notInclude(JSON.stringify(answer.body), code)
      const [row] = yield* onDatabase((sql) =>
        sql`select (select string_agg(p::text, '') from pos_payments p)
        || (select string_agg(o::text, '') from orders o) || (select string_agg(e::text, '') from outbox_events e) as text`
      )
      assert.notInclude(String(row?.["text"]), code)
    }))

  it.effect("that a gift card declines take nothing and leave the sale open", () =>
    Effect.gen(function*() {
      const { path } = yield* aSale(yield* aTill())
      refused(yield* byCard(path, "AAAA-BBBB-CCCC-DDDD", 1_000), 422, "PAYMENT_DECLINED")
      const shown = yield* get(path)
      assert.deepStrictEqual([shown.at("data.amountDue"), shown.at("data.payments.0.status")], [1_000, "failed"])
    }))

  it.effect("are debited once when the process dies between asking and noting, or not at all", () =>
    Effect.gen(function*() {
      const { balance, code } = yield* aCard(5_000)
      const { id, path } = yield* aSale(yield* aTill())
      yield* onDatabase((sql) =>
        sql`create function stop() returns trigger language plpgsql as $$ begin raise 'x'; end $$`
      )
      yield* onDatabase((sql) =>
        sql`create trigger stop before update on pos_payments for each row execute function stop()`
      )
      refused(yield* byCard(path, code, 1_000), 500, "INTERNAL_ERROR")
      yield* onDatabase((sql) => sql`drop trigger stop on pos_payments`)
      const [pending] = (yield* get(path)).list("data.payments")
      refused(yield* complete(path), 409, "CONFLICT")
      const retried = yield* post(`/transactions/${id}/payments/${String(at(pending, "id"))}/retry`)
      assert.strictEqual(retried.at("data.status"), "collected", JSON.stringify(retried.body))
      assert.strictEqual(yield* balance, 4_000)
      assert.strictEqual((yield* complete(path)).status, 201)
      assert.strictEqual(yield* balance, 4_000)
    }))

  it.effect("go back when the sale is voided, and then nothing is sold", () =>
    Effect.gen(function*() {
      const { balance, code } = yield* aCard(5_000)
      const till = yield* aTill()
      const { entityId, path } = yield* aSale(till, 2)
      yield* byCard(path, code, 500)
      yield* pay(path, 1_500)
      const voided = yield* post(`${path}/void`, { reason: "Changed their mind" })
      assert.strictEqual(voided.at("data.status"), "voided", JSON.stringify(voided.body))
      assert.strictEqual(yield* balance, 5_000)
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 50, reserved: 0 })
      refused(yield* complete(path), 422, "INVALID_TRANSITION")
      const report = yield* get(`/shifts/${till.shiftId}/report`)
      assert.deepStrictEqual(
        ["voidsCount", "voidsTotal", "salesCount", "cash.expected"].map((field) => report.at(`data.${field}`)),
        [1, 2_000, 0, 10_000]
      )
    }))

  it.effect("of cash are rounded to the smallest coin, and drawer = orders + roundings", () =>
    Effect.gen(function*() {
      const till = yield* aTill({ cashRounding: 5 })
      let [orders, roundings] = [0, 0]
      for (const unitPrice of [1_001, 1_002, 1_003, 1_004, 1_005, 1_008, 2]) {
        const { entityId, path } = yield* aSale(till)
        const [item] = (yield* get(path)).list("data.items")
        const priced = yield* api("PATCH", `/api/pos${path}/items/${String(at(item, "id"))}`, {
          as: asAdmin,
          body: { unitPrice }
        })
        assert.strictEqual(priced.at("data.transaction.total"), unitPrice, JSON.stringify(priced.body))
        assert.isString(entityId)
        const rounded = Math.floor(unitPrice / 5 + 0.5) * 5
        const paid = yield* pay(path, rounded)
        assert.deepStrictEqual([paid.status, paid.at("data.amountDue")], [201, 0], JSON.stringify(paid.body))
        const done = yield* complete(path)
        const order = yield* orderOf(done)
        assert.strictEqual(order.at("data.tenders.0.captured") ?? order.at("data.amountCaptured"), unitPrice)
        orders += unitPrice
        roundings += rounded - unitPrice
      }
      const report = yield* get(`/shifts/${till.shiftId}/report`)
      assert.deepStrictEqual(
        ["salesTotal", "rounding", "cash.expected"].map((field) => report.at(`data.${field}`)),
        [orders, roundings, 10_000 + orders + roundings]
      )
    }))

  it.effect("keep tips out of the order and in the drawer", () =>
    Effect.gen(function*() {
      const till = yield* aTill({ tipMode: "on_receipt" })
      const { path } = yield* aSale(till)
      yield* pay(path, 1_000, { tip: 150 })
      const done = yield* complete(path)
      assert.deepStrictEqual(
        [done.at("data.transaction.total"), done.at("data.transaction.tipTotal")],
        [1_000, 150],
        JSON.stringify(done.body)
      )
      assert.strictEqual((yield* orderOf(done)).at("data.grandTotal"), 1_000)
      assert.strictEqual((yield* get(`/shifts/${till.shiftId}/report`)).at("data.cash.expected"), 11_150)
      const { path: other } = yield* aSale(yield* aTill())
      refused(yield* pay(other, 1_000, { tip: 1 }), 422, "VALIDATION_FAILED")
    }))

  it.effect("and completions at once: one order; complete against void: one of them wins", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      const first = yield* aSale(till)
      const paid = yield* Effect.all(Array.from({ length: 4 }, () => pay(first.path, 1_000)), { concurrency: 4 })
      assert.deepStrictEqual(paid.map(({ status }) => status).toSorted(), [201, 409, 409, 409])
      const done = yield* Effect.all(Array.from({ length: 4 }, () => complete(first.path)), { concurrency: 4 })
      assert.deepStrictEqual(new Set(done.map(({ status }) => status)), new Set([201]), JSON.stringify(done[1]?.body))
      assert.strictEqual(new Set(done.map((one) => one.at("data.transaction.orderId"))).size, 1)
      for (let round = 0; round < 5; round++) {
        const { balance, code } = yield* aCard(1_000)
        const { entityId, path } = yield* aSale(till)
        yield* byCard(path, code, 1_000)
        const [completed, voided] = yield* Effect.all([complete(path), post(`${path}/void`, { reason: "x" })], {
          concurrency: 2
        })
        const status = (yield* get(path)).at("data.status")
        assert.deepStrictEqual(
          [completed.status === 201, voided.status === 201, yield* balance, (yield* stockOf(entityId)).onHand],
          status === "completed" ? [true, false, 0, 49] : [false, true, 1_000, 50],
          JSON.stringify([completed.body, voided.body])
        )
      }
    }))
})
