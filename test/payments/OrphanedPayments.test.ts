import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { type BeforeCall, HookRefusal } from "../../src/domain/platform/hooks/Hook.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { checkoutFailed, onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { type ScriptedPayment, scriptedProvider } from "../checkout/ScriptedProvider.ts"
import { audit } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, at, live, TestApp, testAppLayer } from "../support/TestApp.ts"

const provider = scriptedProvider("scripted")
const other = { ...scriptedProvider("other").adapter, providerId: "other" }

let names = 0

/** A checkout that its provider authorized, and that a hook refused after that; its payment is void. */
const refusedCheckout = Effect.gen(function*() {
  const token = `refused_${++names}`
  const cart = yield* aCartWith(yield* aProduct())
  const method = { paymentMethodId: "scripted", paymentMethodToken: token, metadata: { refuse: true } }
  checkoutFailed(yield* checkOut(cart, method), /no thanks/)
  const payment = yield* eventually(
    "the void",
    Effect.sync(() => {
      const found = provider.paymentOf(token)
      return found?.status === "canceled" ? found : undefined
    })
  )
  return { token, payment }
})

/** The provider has the money after all, also after a void. */
const take = (payment: ScriptedPayment) =>
  Effect.sync(() => void Object.assign(payment, { status: "succeeded", captured: payment.amount, refunded: 0 }))

const report = (
  payment: ScriptedPayment,
  secret = "scripted",
  overrides: object = {},
  type = "payment_intent.succeeded"
) => {
  const metadata = { orderId: payment.id.replace("pay_", ""), organizationId: "org_default" }
  const object = { id: payment.id, amount: payment.amount, currency: "usd", metadata, ...overrides }
  const body = JSON.stringify({ id: newId(), type, data: { object } })
  return api("POST", "/api/payments/webhook", { body, headers: { "x-payment-signature": signTestEvent(secret, body) } })
}

/** How many durable voids there are of payments that came too late; they are on disk before the provider is answered. */
const voids = onDatabase((sql) =>
  Effect.map(
    sql<{ readonly n: number }>`select count(*)::int4 as n from cluster_messages
      where entity_type = 'Workflow/VoidPayment' and payload::text like '%:orphaned:%'`,
    ([row]) => row?.n ?? 0
  )
)

/** Instruments of checkouts that wait in the hook, and what they wait for. */
const arrived = new Set<unknown>()
const gate = Deferred.makeUnsafe<void>()

const refusing = {
  key: "checkout.beforeCreate",
  before: ({ data }: BeforeCall) => {
    const waits = at(data, "metadata.wait")
    if (at(data, "metadata.refuse") === true) return Effect.fail(new HookRefusal("no thanks"))
    if (waits === undefined) return Effect.succeed(data)
    return Effect.as(Effect.andThen(Effect.sync(() => arrived.add(waits)), Deferred.await(gate)), data)
  }
}

layer(testAppLayer({ payments: { adapters: [provider.adapter, other] }, hooks: [refusing] }), live)(
  "money that is taken for a checkout that was refused",
  (it) => {
    it.effect("gives the money of a refused checkout back once, even if its event repeats", () =>
      Effect.gen(function*() {
        const { payment, token } = yield* refusedCheckout
        yield* take(payment)
        const before = provider.callsOf(token, "cancel")
        for (let n = 0; n < 3; n++) assert.strictEqual((yield* report(payment)).status, 200)
        yield* eventually("the money to go back", Effect.sync(() => payment.refunded === payment.captured))
        assert.strictEqual(provider.callsOf(token, "cancel"), before + 1)
        assert.strictEqual(payment.refunded, payment.amount)
        yield* audit((yield* TestApp).databaseUrl)
      }))

    it.effect("voids nothing for a refused checkout when the event says that nothing was taken", () =>
      Effect.gen(function*() {
        const { payment } = yield* refusedCheckout
        const before = yield* voids
        for (const type of ["payment_intent.canceled", "payment_intent.payment_failed"]) {
          assert.strictEqual((yield* report(payment, "scripted", {}, type)).status, 200, type)
        }
        assert.strictEqual(yield* voids, before)
      }))

    it.effect("refuses an event with 409 while its checkout runs, and accepts it for the order later", () =>
      Effect.gen(function*() {
        const token = `slow_${++names}`
        const cart = yield* aCartWith(yield* aProduct())
        const method = { paymentMethodId: "scripted", paymentMethodToken: token, metadata: { wait: token } }
        const buying = yield* Effect.forkChild(checkOut(cart, method))
        yield* eventually("the hook after the authorization", Effect.sync(() => arrived.has(token)))
        const payment = provider.paymentOf(token)
        if (payment === undefined) return assert.fail("no payment was made")
        refused(yield* report(payment), 409, "CONFLICT")
        yield* Deferred.succeed(gate, undefined)
        const order = yield* Fiber.join(buying)
        assert.strictEqual(order.status, 201, JSON.stringify(order.body))
        assert.strictEqual((yield* report(payment)).status, 200)
        assert.deepStrictEqual([payment.status, payment.refunded], ["succeeded", 0])
      }))

    it.effect("moves no money for an event of another provider, another organization or an unknown checkout", () =>
      Effect.gen(function*() {
        const { payment } = yield* refusedCheckout
        yield* take(payment)
        const before = yield* voids
        const orderId = payment.id.replace("pay_", "")
        assert.strictEqual((yield* report(payment, "other")).status, 200)
        const elsewhere = { metadata: { orderId, organizationId: "org_else" } }
        assert.strictEqual((yield* report(payment, "scripted", elsewhere)).status, 200)
        const unheardOf = { metadata: { orderId: newId(), organizationId: "org_default" } }
        assert.strictEqual((yield* report(payment, "scripted", unheardOf)).status, 200)
        assert.strictEqual(yield* voids, before)
      }))
  }
)
