import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { refusal } from "../checkout/ScriptedProvider.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, live } from "../support/TestApp.ts"
import {
  aPurchase,
  assertReturned,
  booksOf,
  card,
  dyingLate,
  manualStore,
  pay,
  tell,
  tenderedStore
} from "./TenderedShop.ts"

const capture = (path: string, amount?: number) =>
  api("POST", `${path}/capture`, { as: asAdmin, body: amount === undefined ? {} : { amount } })

/** An authorized order of 100.00: 30.00 of a gift card, 70.00 of a card. */
const anAuthorizedOrder = Effect.fnUntraced(function*(kind = "card") {
  const purchase = yield* aPurchase({ kind })
  const made = yield* pay(purchase)
  assert.deepInclude(made.at("data"), { amountCaptured: null, amountDue: 0 })
  return { ...purchase, id: made.text("data.id"), path: `/api/orders/${made.text("data.id")}` }
})

layer(manualStore, live)(
  "a capture by hand of a shared order",
  (it) => {
    it.effect("captures all payments in full by default, and confirms the order", () =>
      Effect.gen(function*() {
        const order = yield* anAuthorizedOrder()
        const done = yield* capture(order.path)
        assert.deepInclude(done.at("data"), { status: "confirmed", amountCaptured: 10_000, amountDue: 0 })
        assert.deepStrictEqual(booksOf(order), {
          giftCard: { captured: 3_000, refunded: 0 },
          card: { captured: 7_000, refunded: 0 }
        })
      }))

    it.effect("takes a part from the first payments on, and voids those it does not need", () =>
      Effect.gen(function*() {
        const [both, first] = [yield* anAuthorizedOrder(), yield* anAuthorizedOrder()]
        assert.strictEqual((yield* capture(both.path, 5_000)).at("data.tenders.1.captured"), 2_000)
        const done = yield* capture(first.path, 2_000)
        assert.deepStrictEqual(
          [done.at("data.tenders.0.captured"), done.at("data.tenders.0.status"), done.at("data.tenders.1.status")],
          [2_000, "captured", "voided"]
        )
        assert.strictEqual(done.at("data.amountDue"), 8_000)
        yield* eventually(
          "the void of the second",
          Effect.sync(() => card.paymentOf(first.token)?.status === "canceled")
        )
      }))

    it.effect("goes on after a refusal with the payments that are left", () =>
      Effect.gen(function*() {
        const order = yield* anAuthorizedOrder()
        card.obstruct(order.token, (operation, nth) => operation === "capture" && nth === 1 ? refusal : Effect.void)
        const refused = yield* capture(order.path)
        assert.deepStrictEqual([refused.status, refused.at("error.code")], [422, "PAYMENT_CAPTURE_FAILED"])
        const read = yield* api("GET", order.path, { as: asAdmin })
        assert.deepStrictEqual(
          [read.at("data.tenders.0.captured"), read.at("data.tenders.1.captured"), read.at("data.amountCaptured")],
          [3_000, 0, null]
        )
        const less = yield* capture(order.path, 2_999)
        assert.deepStrictEqual([less.status, less.at("error.code")], [422, "VALIDATION_FAILED"])
        assert.strictEqual((yield* capture(order.path, 9_000)).at("data.amountCaptured"), 9_000)
        assert.deepStrictEqual(booksOf(order).card, { captured: 6_000, refunded: 0 })
      }))

    it.effect("leaves nothing when the order is cancelled after one payment was captured and one refused", () =>
      Effect.gen(function*() {
        const order = yield* anAuthorizedOrder("broke")
        assert.strictEqual((yield* capture(order.path)).status, 422)
        yield* api("PATCH", `${order.path}/status`, { as: asAdmin, body: { status: "cancelled" } })
        yield* assertReturned(order)
        assert.deepStrictEqual(booksOf(order).giftCard, { captured: 3_000, refunded: 3_000 })
      }))
  }
)

layer(tenderedStore, live)(
  "a shared order whose shopper confirms",
  (it) => {
    const confirmations = [
      ["payment_intent.amount_capturable_updated", { status: "requires_capture" as const }],
      ["payment_intent.succeeded", { status: "succeeded" as const, captured: 7_000 }]
    ] as const

    it.effect("is captured and confirmed, whether the provider takes its part by itself or when it is asked", () =>
      Effect.forEach(confirmations, ([event, confirmed]) =>
        Effect.gen(function*() {
          const purchase = yield* aPurchase({ kind: "asks" })
          const made = yield* pay(purchase)
          const payment = card.paymentOf(purchase.token)
          if (payment === undefined) return assert.fail("no payment")
          Object.assign(payment, confirmed)
          for (const _ of [1, 2]) yield* tell(made.text("data.id"), payment, event, 7_000)
          const read = yield* eventually(
            "the order to be confirmed",
            Effect.map(
              api("GET", `/api/orders/${made.text("data.id")}`, { as: asAdmin }),
              (read) => read.at("data.status") === "confirmed" && read
            )
          )
          assert.deepInclude(read.at("data"), { amountCaptured: 10_000, amountDue: 0 }, event)
          assert.deepStrictEqual(booksOf(purchase).giftCard, { captured: 3_000, refunded: 0 }, event)
        }), { discard: true }))

    it.effect("is given back when its capture is refused, also when the process dies after it cancelled the order", () =>
      Effect.gen(function*() {
        const purchase = yield* aPurchase({ kind: "asks" })
        const made = yield* pay(purchase)
        const payment = card.paymentOf(purchase.token)
        if (payment === undefined) return assert.fail("no payment")
        payment.status = "requires_capture"
        card.obstruct(purchase.token, (operation) => operation === "capture" ? refusal : Effect.void)
        const death = yield* dyingLate(made.text("data.id"), "undone")
        yield* tell(made.text("data.id"), payment, "payment_intent.amount_capturable_updated", 7_000)
        yield* assertReturned(purchase)
        assert.strictEqual(death.left, 0, "the process died")
      }))

    it.effect("is cancelled, and its gift card free again, when the provider reports that the payment failed", () =>
      Effect.forEach(["payment_intent.payment_failed", "payment_intent.canceled"], (event) =>
        Effect.gen(function*() {
          const purchase = yield* aPurchase({ kind: "asks" })
          const made = yield* pay(purchase)
          const payment = card.paymentOf(purchase.token)
          if (payment === undefined) return assert.fail("no payment")
          yield* tell(made.text("data.id"), payment, event, 7_000)
          const read = yield* api("GET", `/api/orders/${made.text("data.id")}`, { as: asAdmin })
          assert.strictEqual(read.at("data.status"), "cancelled", event)
          yield* assertReturned(purchase)
        }), { discard: true }))
  }
)
