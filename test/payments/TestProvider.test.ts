import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { PaymentAdapters, WebhookUnconfigured } from "../../src/domain/payments/PaymentAdapter.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { OrderId } from "../../src/domain/platform/ids/Id.ts"
import { paymentProviders } from "../../src/layers/payments/PaymentProviders.ts"
import { signTestEvent, testProvider } from "../../src/layers/payments/TestProvider.ts"

const request = (paymentMethodToken: string | null, idempotencyKey = "checkout-1") => ({
  amount: 2_500,
  currency: "EUR",
  orderId: OrderId.make("o"),
  customerId: null,
  paymentMethodToken,
  metadata: {},
  idempotencyKey
})

const provider = testProvider({ webhookSecret: "test" })

describe("the test provider", () => {
  it.effect("returns the same test payment for the same key in any process", () =>
    Effect.gen(function*() {
      const first = yield* provider.authorize(request("test"))
      const again = yield* testProvider({ webhookSecret: "other" }).authorize(request("test"))
      const other = yield* provider.authorize(request("test", "checkout-2"))
      assert.deepStrictEqual(again, first)
      assert.notStrictEqual(other.id, first.id)
      assert.deepInclude(first, { status: "requires_capture", amount: 2_500, currency: "EUR", amountCaptured: 0 })
    }))

  it.effect("captures, cancels and refunds a test payment, also after a restart", () =>
    Effect.gen(function*() {
      const { id } = yield* provider.authorize(request("pm_card_visa"))
      const restarted = testProvider({ webhookSecret: "test" })
      const captured = yield* restarted.capture(id, 2_500, "k")
      assert.deepInclude(captured, { id, status: "succeeded", amountCaptured: 2_500 })
      assert.strictEqual(
        yield* restarted.refund(id, 2_500, "r", "refund-1"),
        yield* provider.refund(id, 2_500, "r", "refund-1")
      )
      yield* restarted.cancel(id, "k")
    }))

  it.effect("declines test_decline, and authorizes but never captures test_capture_fail", () =>
    Effect.gen(function*() {
      const declined = yield* Effect.flip(provider.authorize(request("test_decline")))
      assert.deepInclude(declined, { _tag: "PaymentDeclined", code: "PAYMENT_INTENT_CREATE_FAILED" })
      const { id, status } = yield* provider.authorize(request("test_capture_fail"))
      assert.strictEqual(status, "requires_capture")
      assert.deepInclude(yield* Effect.flip(provider.capture(id, 2_500, "k")), { code: "PAYMENT_CAPTURE_FAILED" })
      yield* provider.cancel(id, "k")
    }))

  it.effect("refuses more than was authorized, and unknown test payments", () =>
    Effect.gen(function*() {
      const { id } = yield* provider.authorize(request("test"))
      const refusals = [
        provider.capture(id, 2_501, "k"),
        provider.refund(id, 2_501, "r", "k"),
        provider.capture("pi_1", 1, "k"),
        provider.cancel("pi_1", "k")
      ]
      for (const refusal of refusals) assert.strictEqual((yield* Effect.flip(refusal))._tag, "PaymentDeclined")
    }))

  it.effect("reads a signed test event", () =>
    Effect.gen(function*() {
      const body = JSON.stringify({ id: "evt_1", type: "charge.refunded", data: { object: { id: "pi_1", amount: 5 } } })
      const signature = signTestEvent("test", body)
      const event = yield* provider.verifyWebhook({ "x-payment-signature": signature }, body)
      assert.deepStrictEqual(event, {
        id: "evt_1",
        type: "charge.refunded",
        intentId: "pi_1",
        amount: 5,
        currency: null,
        orderId: null,
        organizationId: null
      })
    }))

  it.effect("reports a missing webhook secret", () =>
    Effect.gen(function*() {
      const refused = yield* Effect.flip(testProvider({ webhookSecret: "" }).verifyWebhook({}, "{}"))
      assert.instanceOf(refused, WebhookUnconfigured)
    }))
})

describe("the providers of a deployment", () => {
  it.effect("selects the test provider for test methods and unknown tokens outside production", () =>
    Effect.gen(function*() {
      const { select } = yield* PaymentAdapters
      for (const token of ["test_decline", "pm_1"]) {
        assert.deepStrictEqual([select(token).adapter.providerId, select(token).token], ["test", token])
      }
    }).pipe(Effect.provide(paymentProviders({ production: false, adapters: [] }))))

  it.effect("declines every payment in production without a configured provider", () =>
    Effect.gen(function*() {
      const { byProvider, select } = yield* PaymentAdapters
      assert.isUndefined(byProvider("test"))
      const asked = select("test").adapter.authorize(request("test"))
      const declined = yield* Effect.flip(Effect.provideService(asked, CurrentActor, systemActor("org_default")))
      assert.strictEqual(declined._tag, "PaymentDeclined")
    }).pipe(Effect.provide(paymentProviders({ production: true, adapters: [] }))))

  it.effect("uses the deployment's first provider as the default", () =>
    Effect.gen(function*() {
      const { byProvider, select } = yield* PaymentAdapters
      assert.strictEqual(select("pm_1").adapter.providerId, "acme")
      assert.strictEqual(select("test").adapter.providerId, "test")
      assert.isDefined(byProvider("acme"))
    }).pipe(Effect.provide(paymentProviders({ production: false, adapters: [{ ...provider, providerId: "acme" }] }))))
})
