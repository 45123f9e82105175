import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { signStripe } from "../support/StripeEmulator.ts"
import { type Answer, api, asAdmin, asStaff } from "../support/TestApp.ts"
import { stripeSecret, stripeStore } from "./StripeStore.ts"

/** An order that was bought, authorized and captured, and is not confirmed yet. */
interface Bought {
  readonly id: string
  readonly intentId: string
  readonly amount: number
}

/** What an event says of a payment other than the truth. */
interface Lie {
  readonly amount?: number
  readonly currency?: string
  readonly intentId?: string
  readonly orderId?: string
  readonly organizationId?: string
}

/** How a provider writes an event and signs it. */
interface Wire {
  readonly name: string
  readonly pays: object
  readonly event: (type: string, order: Bought, lie?: Lie, id?: string) => string
  readonly sign: (body: string, secret?: string) => Readonly<Record<string, string>>
}

const objectOf = ({ amount, id, intentId }: Bought, lie: Lie) => ({
  id: lie.intentId ?? intentId,
  amount: lie.amount ?? amount,
  currency: lie.currency ?? "usd",
  metadata: { orderId: lie.orderId ?? id, organizationId: lie.organizationId ?? "org_default" }
})

const testWire: Wire = {
  name: "the test provider",
  pays: { paymentMethodId: "test" },
  event: (type, order, lie = {}, id = newId()) => JSON.stringify({ id, type, data: { object: objectOf(order, lie) } }),
  sign: (body, secret = "test") => ({ "x-payment-signature": signTestEvent(secret, body) })
}

const stripeWire: Wire = {
  name: "Stripe",
  pays: { paymentMethodId: "stripe", paymentMethodToken: "pm_card" },
  event: (type, order, lie = {}, id = newId()) => {
    const { amount, ...object } = objectOf(order, lie)
    const charge = type === "charge.refunded"
    return JSON.stringify({
      id,
      object: "event",
      type,
      data: {
        object: charge
          ? {
            ...object,
            id: `ch_${object.id}`,
            object: "charge",
            amount,
            amount_refunded: amount,
            payment_intent: object.id
          }
          : { ...object, object: "payment_intent", amount, amount_received: amount }
      }
    })
  },
  sign: (body, secret = stripeSecret) => ({ "stripe-signature": signStripe(secret, body) })
}

const send = (body: string, headers: Readonly<Record<string, string>>) =>
  api("POST", "/api/payments/webhook", { body, headers: { "content-type": "application/json", ...headers } })

const read = ({ id }: Bought) => api("GET", `/api/orders/${id}`, { as: asAdmin })

const buy = Effect.fnUntraced(function*(pays: object) {
  const made = yield* checkOut(yield* aCartWith(yield* aProduct()), pays)
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  const order: Bought = {
    id: made.text("data.id"),
    intentId: made.text("data.paymentIntentId"),
    amount: made.number("data.grandTotal")
  }
  return order
})

const accepted = (answer: Answer, why: string) =>
  assert.deepStrictEqual([answer.status, answer.body], [200, { data: { received: true } }], why)

/** Events that are none about this order's payment: believed, answered, and nothing done. */
const beside: ReadonlyArray<readonly [row: string, type: string, lie: Lie]> = [
  ["an unknown order", "payment_intent.succeeded", { orderId: "0197b9b4-0000-7000-8000-000000000001" }],
  ["an order id that is none", "payment_intent.succeeded", { orderId: "no-uuid" }],
  ["another organization", "payment_intent.succeeded", { organizationId: "org_else" }],
  ["an unknown intent", "payment_intent.succeeded", { intentId: "pi_unknown" }],
  ["another currency", "payment_intent.succeeded", { currency: "eur" }],
  ["another amount", "payment_intent.succeeded", { amount: 1 }],
  ["an unknown type", "customer.updated", {}],
  ["a failed attempt that is told after the payment", "payment_intent.payment_failed", {}],
  ["an end that is told after the payment", "payment_intent.canceled", {}],
  ["an authorization that is told after the capture", "payment_intent.amount_capturable_updated", {}]
]

layer(stripeStore(), { excludeTestServices: true, timeout: "60 seconds" })("POST /payments/webhook", (it) => {
  for (const wire of [testWire, stripeWire]) {
    describe(`with ${wire.name}`, () => {
      it.effect("payment_intent.succeeded confirms the order; its repeat is a duplicate; another one changes nothing", () =>
        Effect.gen(function*() {
          const order = yield* buy(wire.pays)
          const body = wire.event("payment_intent.succeeded", order)
          accepted(yield* send(body, wire.sign(body)), "the first")
          const confirmed = yield* read(order)
          assert.deepInclude(confirmed.at("data"), { status: "confirmed", amountCaptured: order.amount })
          const repeated = yield* send(body, wire.sign(body))
          assert.deepStrictEqual(repeated.body, { data: { received: true, duplicate: true } })
          const another = wire.event("payment_intent.succeeded", order)
          accepted(yield* send(another, wire.sign(another)), "another")
          assert.deepStrictEqual((yield* read(order)).body, confirmed.body)
        }))

      it.effect("comes out of order: of an order that is further on already it changes nothing", () =>
        Effect.gen(function*() {
          const order = yield* buy(wire.pays)
          for (const status of ["confirmed", "processing"]) {
            yield* api("PATCH", `/api/orders/${order.id}/status`, { as: asStaff, body: { status } })
          }
          const before = yield* read(order)
          const late = wire.event("payment_intent.succeeded", order)
          accepted(yield* send(late, wire.sign(late)), "late")
          assert.deepStrictEqual((yield* read(order)).body, before.body)
        }))

      it.effect("charge.refunded notes what the provider gave back, once", () =>
        Effect.gen(function*() {
          const order = yield* buy(wire.pays)
          const body = wire.event("charge.refunded", order, { amount: 400 })
          accepted(yield* send(body, wire.sign(body)), "the first")
          assert.deepStrictEqual((yield* send(body, wire.sign(body))).at("data.duplicate"), true)
          const again = wire.event("charge.refunded", order, { amount: 400 })
          accepted(yield* send(again, wire.sign(again)), "another of the same sum")
          assert.strictEqual((yield* read(order)).number("data.refundedTotal"), 400)
        }))

      it.effect("what is not about this payment is accepted and changes nothing", () =>
        Effect.gen(function*() {
          const order = yield* buy(wire.pays)
          const before = yield* read(order)
          for (const [row, type, lie] of beside) {
            const body = wire.event(type, order, lie)
            accepted(yield* send(body, wire.sign(body)), row)
            assert.deepStrictEqual((yield* read(order)).body, before.body, row)
          }
        }))

      it.effect("400 for a bad signature, for a body that was changed, and for what is no event", () =>
        Effect.gen(function*() {
          const order = yield* buy(wire.pays)
          const before = yield* read(order)
          const body = wire.event("payment_intent.succeeded", order)
          const changed = body.replace("succeeded", "succeeded2")
          const refusals = [
            yield* send(body, wire.sign(body, "guessed")),
            yield* send(changed, wire.sign(body)),
            yield* send("{}", wire.sign("{}")),
            yield* send("no json", wire.sign("no json"))
          ]
          for (const refusal of refusals) {
            assert.deepStrictEqual([refusal.status, refusal.at("error.code")], [400, "WEBHOOK_VERIFICATION_FAILED"])
          }
          const unsigned = yield* send(body, {})
          assert.deepStrictEqual([unsigned.status, unsigned.at("error.code")], [400, "WEBHOOK_SIGNATURE_MISSING"])
          assert.deepStrictEqual((yield* read(order)).body, before.body)
        }))
    })
  }

  it.effect("an event of one provider about an order of the other changes nothing", () =>
    Effect.gen(function*() {
      const order = yield* buy(testWire.pays)
      const before = yield* read(order)
      const foreign = stripeWire.event("payment_intent.succeeded", order)
      accepted(yield* send(foreign, stripeWire.sign(foreign)), "foreign")
      assert.deepStrictEqual((yield* read(order)).body, before.body)
    }))
})
