import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { v7 } from "uuid"
import type { PaymentRequest } from "../../src/domain/payments/PaymentAdapter.ts"
import { newId, OrderId } from "../../src/domain/platform/ids/Id.ts"
import { stripeProvider } from "../../src/layers/payments/StripeProvider.ts"
import { startStripe } from "../support/StripeEmulator.ts"
import { stripeKey } from "./StripeStore.ts"

const account = (apiUrl: string, key = stripeKey) =>
  stripeProvider({
    id: "stripe",
    secretKey: Redacted.make(key),
    webhookSecrets: [],
    toleranceSeconds: 300,
    timeoutMs: 2_000,
    returnUrl: undefined,
    apiUrl
  })

const requestOf = (key: OrderId, more: Partial<PaymentRequest> = {}): PaymentRequest => ({
  amount: 1_000,
  currency: "USD",
  orderId: key,
  customerId: null,
  paymentMethodToken: "pm_card",
  metadata: { orderId: key, checkoutId: key },
  idempotencyKey: key,
  ...more
})

const twoDaysAgo = () => v7({ msecs: Date.now() - 2 * 86_400_000 })

/** An emulated Stripe and an adapter for it. */
const given = Effect.map(startStripe(stripeKey), (stripe) => ({ stripe, adapter: account(stripe.url) }))

it.live("returns the current state of a payment for a repeated key", () =>
  Effect.gen(function*() {
    const { adapter } = yield* given
    const request = requestOf(newId())
    const first = yield* adapter.authorize(request)
    assert.strictEqual(first.status, "requires_capture")
    yield* adapter.cancel(first.id, "void")
    const again = yield* adapter.authorize(request)
    assert.deepStrictEqual([again.id, again.status], [first.id, "canceled"])
  }).pipe(Effect.scoped))

it.live("finds the payment of a key that Stripe used for another request", () =>
  Effect.gen(function*() {
    const { adapter, stripe } = yield* given
    const request = requestOf(newId())
    const first = yield* adapter.authorize(request)
    const again = yield* adapter.authorize({ ...request, amount: 2_000 })
    assert.deepStrictEqual([again.id, again.amount], [first.id, 1_000])
    assert.strictEqual(stripe.ledger.intents.size, 1)
  }).pipe(Effect.scoped))

it.live("makes no second payment for a key that Stripe has dropped", () =>
  Effect.gen(function*() {
    const { adapter, stripe } = yield* given
    const made = requestOf(OrderId.make(twoDaysAgo()))
    stripe.ledger.create(
      new Map([["amount", "1000"], ["currency", "usd"], ["capture_method", "manual"], ["payment_method", "pm_card"], [
        "metadata[checkoutId]",
        made.idempotencyKey
      ]])
    )
    assert.strictEqual((yield* adapter.authorize(made)).status, "requires_capture")
    const never = yield* Effect.flip(adapter.authorize(requestOf(OrderId.make(twoDaysAgo()))))
    assert.deepStrictEqual([never._tag, never.message], ["PaymentDeclined", "The payment was never made."])
    assert.strictEqual(stripe.ledger.intents.size, 1)
  }).pipe(Effect.scoped))

it.live("captures, refunds and voids once after Stripe has dropped its keys", () =>
  Effect.gen(function*() {
    const { adapter, stripe } = yield* given
    const { id } = yield* adapter.authorize(requestOf(newId()))
    yield* adapter.capture(id, 1_000, "capture")
    const reference = yield* adapter.refund(id, 400, "broken", "refund")
    stripe.forgetKeys()
    const captured = yield* adapter.capture(id, 1_000, "capture")
    assert.deepStrictEqual([captured.status, captured.amountCaptured], ["succeeded", 1_000])
    assert.strictEqual(yield* adapter.refund(id, 400, "broken", "refund"), reference)
    assert.strictEqual(stripe.ledger.refundedOf(id), 400)
    // A void of what was taken gives back what is left, and no more however often it is asked for.
    yield* adapter.cancel(id, "void")
    stripe.forgetKeys()
    yield* adapter.cancel(id, "void")
    assert.strictEqual(stripe.ledger.refundedOf(id), 1_000)
  }).pipe(Effect.scoped))

it.live("refuses to refund more than is left, without Stripe's message", () =>
  Effect.gen(function*() {
    const { adapter } = yield* given
    const { id } = yield* adapter.authorize(requestOf(newId()))
    yield* adapter.capture(id, 1_000, "capture")
    const error = yield* Effect.flip(adapter.refund(id, 1_001, "broken", "refund"))
    assert.deepStrictEqual([error._tag, error.message], [
      "PaymentDeclined",
      "The payment provider refused the request."
    ])
  }).pipe(Effect.scoped))

it.live("refuses an amount that Stripe cannot represent, without a call", () =>
  Effect.gen(function*() {
    const { adapter, stripe } = yield* given
    const error = yield* Effect.flip(adapter.authorize(requestOf(newId(), { amount: 1_234, currency: "KWD" })))
    assert.strictEqual(error.message, "The payment provider cannot take 1234 minor units of KWD to the unit.")
    const krona = yield* adapter.authorize(requestOf(newId(), { amount: 500, currency: "ISK" }))
    const captured = yield* adapter.capture(krona.id, 500, "capture")
    assert.deepStrictEqual([krona.amount, captured.amountCaptured], [500, 500])
    assert.strictEqual(stripe.ledger.intents.get(krona.id)?.amount_received, 50_000)
    assert.strictEqual(stripe.calls.filter(({ call }) => call === "create").length, 1)
  }).pipe(Effect.scoped))

it.live("treats a rejected secret key as no answer, and does not show it", () =>
  Effect.gen(function*() {
    const { stripe } = yield* given
    const error = yield* Effect.flip(account(stripe.url, "sk_test_revoked").authorize(requestOf(newId())))
    assert.strictEqual(error._tag, "PaymentUnknown")
    assert.notInclude(error.message, "sk_test")
  }).pipe(Effect.scoped))
