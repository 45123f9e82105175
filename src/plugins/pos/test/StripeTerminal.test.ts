import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { onDatabase, refused } from "../../../../test/checkout/CheckoutFixtures.ts"
import { signStripe, stripeEvent } from "../../../../test/support/StripeEmulator.ts"
import { startStripeTerminal } from "../../../../test/support/StripeTerminalEmulator.ts"
import { api, asAdmin, live, testAppLayer } from "../../../../test/support/TestApp.ts"
import { pos, stripeTerminal } from "../index.ts"
import { aSale, aTill, complete, get, pay, post } from "./Till.ts"

class Stripe extends Context.Service<Stripe, Effect.Success<ReturnType<typeof startStripeTerminal>>>()("Stripe") {}

const app = Layer.unwrap(Effect.map(startStripeTerminal("sk_test_1"), (stripe) => {
  const adapter = stripeTerminal({
    secretKey: Redacted.make("sk_test_1"),
    webhookSecret: Redacted.make("whsec_1"),
    url: stripe.url
  })
  return Layer.merge(
    Layer.succeed(Stripe, stripe),
    testAppLayer({ plugins: [pos({ terminals: [adapter] })] }, { logLevel: "none" })
  )
}))

const shop = layer(app, live)

const byReader = (path: string, amount: number, body: object = {}) =>
  pay(path, amount, { method: "card", provider: "stripe", readerId: "tmr_1", ...body })

shop("a payment on a card reader of Stripe", (it) => {
  it.effect("is pending until the card is presented, and then a tender that a refund gives back", () =>
    Effect.gen(function*() {
      const stripe = yield* Stripe
      const till = yield* aTill({ tipMode: "on_terminal" })
      const { path } = yield* aSale(till)
      const started = yield* byReader(path, 1_000)
      assert.deepStrictEqual(
        [started.status, started.at("data.status")],
        [201, "pending"],
        JSON.stringify(started.body)
      )
      refused(yield* complete(path), 409, "CONFLICT")
      const payment = `${path}/payments/${started.text("data.id")}`
      assert.strictEqual((yield* get(payment)).at("data.status"), "pending")
      const intent = stripe.tap("tmr_1", 150)
      const paid = yield* get(payment)
      assert.deepStrictEqual(
        ["status", "amount", "tip", "label", "amountDue"].map((field) => paid.at(`data.${field}`)),
        ["collected", 1_000, 150, "visa ending in 4242", 0],
        JSON.stringify(paid.body)
      )
      const done = yield* complete(path)
      assert.deepStrictEqual(
        [done.at("data.transaction.total"), done.at("data.transaction.tipTotal")],
        [1_000, 150],
        JSON.stringify(done.body)
      )
      const refund = yield* api("POST", `/api/orders/${done.text("data.transaction.orderId")}/refund`, {
        as: asAdmin,
        body: { amount: 400 }
      })
      assert.isBelow(refund.status, 300, JSON.stringify(refund.body))
      assert.strictEqual(intent.refunded, 400)
    }))

  it.effect("that is declined takes nothing, and another one can follow", () =>
    Effect.gen(function*() {
      const stripe = yield* Stripe
      const { path } = yield* aSale(yield* aTill())
      const first = yield* byReader(path, 1_000)
      stripe.decline()
      const read = yield* get(`${path}/payments/${first.text("data.id")}`)
      assert.deepStrictEqual(
        ["status", "failure", "amountDue"].map((field) => read.at(`data.${field}`)),
        ["failed", "Your card has insufficient funds.", 1_000]
      )
      const busy = yield* byReader(path, 1_000)
      assert.strictEqual(busy.at("data.status"), "pending")
      refused(yield* byReader(path, 1_000, { readerId: "tmr_9" }), 409, "CONFLICT")
      yield* post(`${path}/void`, { reason: "x" })
      assert.strictEqual((yield* get(path)).at("data.status"), "voided")
    }))

  it.effect("is taken once when answers of Stripe are lost", () =>
    Effect.gen(function*() {
      const stripe = yield* Stripe
      const { path } = yield* aSale(yield* aTill())
      const before = stripe.intents.size
      stripe.lose("payment_intents", "process_payment_intent")
      const started = yield* byReader(path, 1_000)
      assert.strictEqual(started.at("data.status"), "pending", JSON.stringify(started.body))
      assert.strictEqual(stripe.intents.size, before + 1)
      stripe.tap()
      assert.strictEqual(
        (yield* post(`${path}/payments/${started.text("data.id")}/retry`)).at("data.status"),
        "collected"
      )
      assert.strictEqual((yield* complete(path)).status, 201)
    }))

  it.effect("goes back when the sale is voided, also when the card was presented meanwhile", () =>
    Effect.gen(function*() {
      const stripe = yield* Stripe
      const [waiting, taken] = [yield* aSale(yield* aTill()), yield* aSale(yield* aTill())]
      yield* byReader(waiting.path, 1_000)
      const [first] = [...stripe.intents.values()].slice(-1)
      assert.strictEqual((yield* post(`${waiting.path}/void`, { reason: "x" })).at("data.status"), "voided")
      assert.strictEqual(first?.status, "canceled")
      yield* byReader(taken.path, 1_000)
      const intent = stripe.tap()
      assert.strictEqual((yield* post(`${taken.path}/void`, { reason: "x" })).at("data.status"), "voided")
      assert.deepStrictEqual([intent.status, intent.refunded], ["succeeded", 1_000])
    }))

  it.effect("is settled by a signed event, and by no other", () =>
    Effect.gen(function*() {
      const stripe = yield* Stripe
      const { path } = yield* aSale(yield* aTill())
      const started = yield* byReader(path, 1_000)
      const { id, metadata } = stripe.tap()
      const body = stripeEvent("payment_intent.succeeded", { id, metadata })
      const send = (signature: string) =>
        api("POST", "/api/pos/terminals/stripe/webhook", { body, headers: { "stripe-signature": signature } })
      refused(yield* send(signStripe("whsec_2", body)), 400, "WEBHOOK_VERIFICATION_FAILED")
      refused(yield* send(signStripe("whsec_1", body, 1_700_000_000)), 400, "WEBHOOK_VERIFICATION_FAILED")
      const status = Effect.map(
        onDatabase((sql) => sql`select status from pos_payments where id = ${started.text("data.id")}::uuid`),
        ([row]) => row?.["status"]
      )
      assert.strictEqual(yield* status, "pending")
      assert.strictEqual((yield* send(signStripe("whsec_1", body))).status, 200)
      assert.strictEqual(yield* status, "collected")
    }))

  it.effect("needs a reader, which its code connects", () =>
    Effect.gen(function*() {
      const reader = (registrationCode: string, provider = "stripe") =>
        post("/readers", { provider, registrationCode, label: "Counter" })
      assert.strictEqual((yield* reader("simulated-wpe")).at("data.readerId"), "tmr_2")
      refused(yield* reader("wrong"), 422, "PAYMENT_DECLINED")
      refused(yield* reader("x", "adyen"), 422, "VALIDATION_FAILED")
      const { path } = yield* aSale(yield* aTill())
      refused(yield* pay(path, 1_000, { method: "card", provider: "stripe" }), 422, "VALIDATION_FAILED")
      refused(yield* pay(path, 1_000, { method: "card", provider: "adyen", readerId: "x" }), 422, "VALIDATION_FAILED")
    }))
})
