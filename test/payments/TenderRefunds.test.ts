import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { refusal } from "../checkout/ScriptedProvider.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, live } from "../support/TestApp.ts"
import { aPurchase, assertReturned, balance, booksOf, card, pay, tell, tenderedStore } from "./TenderedShop.ts"

/** A purchase of 100.00: 30.00 from a gift card, 70.00 from a card. */
const aPaidOrder = Effect.gen(function*() {
  const purchase = yield* aPurchase()
  const made = yield* pay(purchase)
  return { ...purchase, id: made.text("data.id"), path: `/api/orders/${made.text("data.id")}` }
})

const refund = (path: string, body: object) => api("POST", `${path}/refunds`, { as: asAdmin, body })

/** What was refunded to each payment as order and providers have it. */
const refundedOf = Effect.fnUntraced(function*(order: Effect.Success<typeof aPaidOrder>) {
  const read = yield* api("GET", order.path, { as: asAdmin })
  const shown = [read.number("data.tenders.0.refunded"), read.number("data.tenders.1.refunded")]
  const { card: ofCard, giftCard } = booksOf(order)
  assert.deepStrictEqual(shown, [giftCard.refunded, ofCard.refunded], "order and providers agree")
  assert.strictEqual(read.number("data.refundedTotal"), giftCard.refunded + ofCard.refunded)
  return shown
})

/** The open failure about an order. */
const failureOf = (orderId: string) =>
  Effect.map(api("GET", "/api/admin/compensation-failures?limit=100", { as: asAdmin }), (failures) => {
    const at = failures.list("data").findIndex((_, n) =>
      failures.at(`data.${n}.orderId`) === orderId && failures.at(`data.${n}.status`) === "open"
    )
    return {
      amount: failures.at(`data.${at}.amount`),
      provider: failures.at(`data.${at}.provider`),
      id: failures.text(`data.${at}.id`)
    }
  })

layer(tenderedStore, live)("refunds of a shared order", (it) => {
  it.effect("go to the card first and to the gift card last", () =>
    Effect.gen(function*() {
      const order = yield* aPaidOrder
      const first = yield* refund(order.path, { amount: 2_000 })
      assert.deepStrictEqual(
        [first.status, first.at("data.status"), first.at("data.tenders.0.method"), first.at("data.tenders.0.amount")],
        [201, "completed", "scripted", 2_000]
      )
      assert.deepStrictEqual(yield* refundedOf(order), [0, 2_000])
      const second = yield* refund(order.path, { amount: 6_000 })
      assert.deepStrictEqual(
        second.list("data.tenders").map((
          _,
          n
        ) => [second.at(`data.tenders.${n}.method`), second.at(`data.tenders.${n}.amount`)]),
        [["scripted", 5_000], ["gift-card", 1_000]]
      )
      assert.deepStrictEqual(yield* refundedOf(order), [1_000, 7_000])
      const cap = yield* api("GET", `/api/orders/refunds/cap?orderId=${order.id}`, { as: asAdmin })
      assert.strictEqual(cap.at("data.cap"), 2_000)
      assert.strictEqual((yield* refund(order.path, { amount: 2_001 })).status, 422)
    }))

  it.effect("give everything back when the order is cancelled", () =>
    Effect.gen(function*() {
      const order = yield* aPaidOrder
      yield* refund(order.path, { amount: 1_000 })
      yield* api("PATCH", `${order.path}/status`, { as: asAdmin, body: { status: "cancelled" } })
      yield* eventually("all of it to be back", Effect.map(refundedOf(order), ([gift]) => gift === 3_000))
      assert.deepStrictEqual(yield* refundedOf(order), [3_000, 7_000])
    }))

  it.effect("never give more back than was paid when eight ask at once", () =>
    Effect.gen(function*() {
      const order = yield* aPaidOrder
      const answers = yield* Effect.replicateEffect(refund(order.path, { amount: 3_000 }), 8, {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 201, 201, 422, 422, 422, 422, 422])
      yield* eventually(
        "the refunds to end",
        Effect.map(refundedOf(order), ([gift, card]) => Number(gift) + Number(card) === 9_000)
      )
      assert.deepStrictEqual(yield* refundedOf(order), [2_000, 7_000])
    }))

  it.effect("owe the rest when one payment refuses its part, and give it when an operator asks again", () =>
    Effect.gen(function*() {
      const order = yield* aPaidOrder
      const line = yield* api("GET", order.path, { as: asAdmin })
      balance.obstruct(order.cardToken, (operation, nth) => operation === "refund" && nth === 1 ? refusal : Effect.void)
      const made = yield* refund(order.path, { lines: [{ lineItemId: line.text("data.lineItems.0.id"), quantity: 1 }] })
      assert.deepStrictEqual(
        [made.at("data.status"), made.at("data.tenders.0.status"), made.at("data.tenders.1.status")],
        ["failed", "completed", "pending"]
      )
      assert.deepStrictEqual(yield* refundedOf(order), [0, 7_000])
      const failure = yield* failureOf(order.id)
      assert.deepInclude(failure, { amount: 3_000, provider: "gift-card" })
      const after = yield* api("GET", order.path, { as: asAdmin })
      assert.strictEqual(after.at("data.lineItems.0.refundedQuantity"), 1)
      const again = yield* api("POST", `/api/admin/compensation-failures/${failure.id}/retry`, { as: asAdmin })
      assert.strictEqual(again.status, 200, JSON.stringify(again.body))
      assert.deepStrictEqual(yield* refundedOf(order), [3_000, 7_000])
      assert.strictEqual(card.callsOf(order.token, "refund"), 1)
    }))

  it.effect("cannot be asked for again once the rest was given back in another way", () =>
    Effect.gen(function*() {
      const order = yield* aPaidOrder
      balance.obstruct(order.cardToken, (operation, nth) => operation === "refund" && nth === 1 ? refusal : Effect.void)
      yield* refund(order.path, {})
      const failure = yield* failureOf(order.id)
      assert.strictEqual((yield* refund(order.path, { amount: 3_000 })).at("data.status"), "completed")
      const again = yield* api("POST", `/api/admin/compensation-failures/${failure.id}/retry`, { as: asAdmin })
      assert.deepStrictEqual([again.status, again.at("error.code")], [409, "CONFLICT"])
      assert.deepStrictEqual(yield* refundedOf(order), [3_000, 7_000])
    }))

  it.effect("count what a provider has given back of its payment by itself, once", () =>
    Effect.gen(function*() {
      const order = yield* aPaidOrder
      const payment = card.paymentOf(order.token)
      if (payment === undefined) return assert.fail("no payment")
      payment.refunded = 7_000
      for (const _ of [1, 2]) yield* tell(order.id, payment, "charge.refunded", 7_000)
      assert.deepStrictEqual(yield* refundedOf(order), [0, 7_000])
      const rest = yield* refund(order.path, {})
      assert.deepStrictEqual([rest.at("data.amount"), rest.at("data.tenders.0.method")], [3_000, "gift-card"])
      assert.deepStrictEqual(yield* refundedOf(order), [3_000, 7_000])
    }))

  it.effect("return money that arrives after the order was cancelled", () =>
    Effect.gen(function*() {
      const purchase = yield* aPurchase({ kind: "asks" })
      const made = yield* pay(purchase)
      const payment = card.paymentOf(purchase.token)
      if (payment === undefined) return assert.fail("no payment")
      const path = `/api/orders/${made.text("data.id")}`
      yield* api("PATCH", `${path}/status`, { as: asAdmin, body: { status: "cancelled" } })
      yield* eventually("the void", Effect.sync(() => payment.status === "canceled"))
      Object.assign(payment, { status: "succeeded", captured: 7_000 })
      yield* tell(made.text("data.id"), payment, "payment_intent.succeeded", 7_000)
      yield* assertReturned(purchase)
      // The provider has the money back before the order knows.
      const booked = onDatabase((sql) =>
        sql`select sum(captured)::int4 as captured, sum(refunded)::int4 as refunded from order_tenders
          where order_id = ${made.text("data.id")}::uuid`
      )
      yield* eventually(
        "the order to say what was taken and given back",
        Effect.map(booked, ([sum]) => sum?.["captured"] === 7_000 && sum["refunded"] === 7_000)
      )
    }))
})
