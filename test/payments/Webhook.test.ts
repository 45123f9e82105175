import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { onDatabase, refused } from "../checkout/CheckoutFixtures.ts"
import { type BuiltOrder, orderInApp, type OrderSpec, stockInApp } from "../support/OrderBuilder.ts"
import { signStripe } from "../support/StripeEmulator.ts"
import { type Answer, api, asAdmin, inOrganization, live } from "../support/TestApp.ts"
import { stripeSecret, stripeStore } from "./StripeStore.ts"

/** What an event says of a payment other than the truth. */
interface Lie {
  readonly amount?: number | null
  readonly currency?: string
  readonly intentId?: string
  readonly orderId?: string | null
  readonly organizationId?: string
}

/** How a provider writes an event and signs it. */
interface Wire {
  readonly provider: string
  readonly event: (type: string, order: BuiltOrder, lie?: Lie, id?: string) => string
  readonly sign: (body: string, secret?: string) => Readonly<Record<string, string>>
}

const objectOf = ({ grandTotal, id, intentId, organizationId }: BuiltOrder, lie: Lie) => ({
  id: lie.intentId ?? intentId,
  amount: lie.amount === undefined ? grandTotal : lie.amount,
  currency: lie.currency ?? "usd",
  metadata: {
    orderId: lie.orderId === undefined ? id : lie.orderId,
    organizationId: lie.organizationId ?? organizationId
  }
})

const testWire: Wire = {
  provider: "test",
  event: (type, order, lie = {}, id = newId()) => JSON.stringify({ id, type, data: { object: objectOf(order, lie) } }),
  sign: (body, secret = "test") => ({ "x-payment-signature": signTestEvent(secret, body) })
}

const stripeWire: Wire = {
  provider: "stripe",
  event: (type, order, lie = {}, id = newId()) => {
    const { amount, id: intent, ...rest } = objectOf(order, lie)
    const object = type === "charge.refunded"
      ? { ...rest, id: `ch_${intent}`, object: "charge", amount, amount_refunded: amount, payment_intent: intent }
      : { ...rest, id: intent, object: "payment_intent", amount, amount_received: amount }
    return JSON.stringify({ id, object: "event", type, data: { object } })
  },
  sign: (body, secret = stripeSecret) => ({ "stripe-signature": signStripe(secret, body) })
}

const send = (body: string, headers: Readonly<Record<string, string>>) =>
  api("POST", "/api/payments/webhook", { body, headers: { "content-type": "application/json", ...headers } })

const report = (wire: Wire, ...event: Parameters<Wire["event"]>) => {
  const body = wire.event(...event)
  return send(body, wire.sign(body))
}

const read = ({ id, organizationId }: BuiltOrder) =>
  api("GET", `/api/orders/${id}`, { as: inOrganization(organizationId, asAdmin) })

const accepted = (answer: Answer, why = "", duplicate = false) =>
  assert.deepStrictEqual(
    [answer.status, answer.at("data")],
    [200, { received: true, ...duplicate ? { duplicate: true } : {} }],
    why
  )

/** Reports an event twice: the first is worked on, the second is a duplicate. */
const reportTwice = Effect.fnUntraced(function*(wire: Wire, type: string, order: BuiltOrder, lie: Lie = {}) {
  const id = newId()
  accepted(yield* report(wire, type, order, lie, id), type)
  accepted(yield* report(wire, type, order, lie, id), type, true)
})

const historyOf = ({ id }: BuiltOrder) =>
  onDatabase((sql) => sql`select to_status, reason, changed_by from order_status_history where order_id = ${id}::uuid`)

const refundsOf = ({ id }: BuiltOrder) => onDatabase((sql) => sql`select 1 from refunds where order_id = ${id}::uuid`)

const [succeeded, failed, ended] = [
  "payment_intent.succeeded",
  "payment_intent.payment_failed",
  "payment_intent.canceled"
]

const unpaid: OrderSpec = { captured: null }
const paid: OrderSpec = { captured: 1_000, onHand: 5 }

/** Events that say nothing new about this order's payment: verified, accepted, and nothing changes. */
const beside: ReadonlyArray<readonly [what: string, order: OrderSpec, type: string, lie?: Lie]> = [
  ["an unknown order", unpaid, succeeded, { orderId: "0197b9b4-0000-7000-8000-000000000001" }],
  ["an order id that is none", unpaid, succeeded, { orderId: "no-uuid" }],
  ["no order", unpaid, succeeded, { orderId: null }],
  ["another organization", unpaid, succeeded, { organizationId: "org_else" }],
  ["another payment", unpaid, succeeded, { intentId: "pi_other" }],
  ["another currency", unpaid, succeeded, { currency: "eur" }],
  ["another payment's refund", paid, "charge.refunded", { intentId: "pi_other" }],
  ["an unknown type", unpaid, "customer.updated"],
  ["a failed attempt of a confirmed order", { ...paid, status: "confirmed" }, failed],
  ["the payment of an order in progress", { ...paid, status: "processing" }, succeeded],
  ["an authorization after the capture", paid, "payment_intent.amount_capturable_updated"],
  ["a refund of nothing that was captured", unpaid, "charge.refunded"]
]

/** The same where the event is about this payment, so that its repetition is a duplicate. */
const noted: typeof beside = [
  ...[0, 1, 999, 1_001].map((amount) => [`the amount ${amount}`, unpaid, succeeded, { amount }] as const),
  ["a failed attempt after the payment", paid, failed],
  ["an end after the payment", paid, ended]
]

layer(stripeStore(), live)("POST /payments/webhook", (it) => {
  for (const wire of [testWire, stripeWire]) {
    const given = (spec: OrderSpec = unpaid) => orderInApp({ provider: wire.provider, ...spec })

    describe(`with events of the provider ${wire.provider}`, () => {
      it.effect("confirms a paid order once, with the captured amount and the provider in its history", () =>
        Effect.gen(function*() {
          const order = yield* given()
          yield* reportTwice(wire, succeeded, order)
          const confirmed = yield* read(order)
          assert.deepInclude(confirmed.at("data"), { status: "confirmed", amountCaptured: order.grandTotal })
          accepted(yield* report(wire, succeeded, order, { amount: 1 }), "another event")
          assert.deepStrictEqual((yield* read(order)).body, confirmed.body)
          assert.deepStrictEqual(yield* historyOf(order), [{
            to_status: "confirmed",
            reason: `${wire.provider}_webhook_payment_intent_succeeded`,
            changed_by: `${wire.provider}-webhook`
          }])
        }))

      it.effect("accepts an event that is not about the order's payment, and changes nothing", () =>
        Effect.gen(function*() {
          for (const [what, spec, type, lie] of [...beside, ...noted]) {
            const order = yield* given(spec)
            const before = yield* read(order)
            if (noted.some((row) => row[0] === what)) yield* reportTwice(wire, type, order, lie)
            else accepted(yield* report(wire, type, order, lie), what)
            assert.deepStrictEqual((yield* read(order)).body, before.body, what)
            assert.lengthOf(yield* refundsOf(order), 0, what)
            if (spec.onHand !== undefined) assert.strictEqual((yield* stockInApp(order))?.reserved, 1, what)
          }
        }))

      it.effect("records the total that the provider refunded once, up to what was captured", () =>
        Effect.gen(function*() {
          const fulfilled = yield* given({ ...paid, status: "fulfilled" })
          const confirmed = yield* given({ ...paid, status: "confirmed" })
          yield* reportTwice(wire, "charge.refunded", fulfilled, { amount: 400 })
          const steps = [
            [fulfilled, 400, "fulfilled", 400],
            [fulfilled, 1_000, "refunded", 1_000],
            [confirmed, 5_000, "confirmed", 1_000]
          ] as const
          for (const [order, amount, status, refundedTotal] of steps) {
            accepted(yield* report(wire, "charge.refunded", order, { amount }), `${amount}`)
            assert.deepInclude((yield* read(order)).at("data"), { status, refundedTotal })
          }
        }))

      it.effect("refuses an event without a valid signature with 400, and what is no event", () =>
        Effect.gen(function*() {
          const order = yield* given()
          const body = wire.event(succeeded, order)
          refused(yield* send(body, wire.sign(body, "guessed")), 400, "WEBHOOK_VERIFICATION_FAILED")
          refused(yield* send(`${body} `, wire.sign(body)), 400, "WEBHOOK_VERIFICATION_FAILED")
          for (
            const other of [
              "{}",
              "[]",
              "{\"id\":1}",
              "no json",
              "{\"id\":\"\",\"type\":\"x\",\"data\":{\"object\":{}}}"
            ]
          ) {
            refused(yield* send(other, wire.sign(other)), 400, "WEBHOOK_VERIFICATION_FAILED", other)
          }
          const short = Object.fromEntries(Object.keys(wire.sign(body)).map((header) => [header, "00"]))
          refused(yield* send(body, short), 400, "WEBHOOK_VERIFICATION_FAILED", "short")
          refused(yield* send(body, {}), 400, "WEBHOOK_SIGNATURE_MISSING")
          assert.strictEqual((yield* read(order)).text("data.status"), "pending")
        }))
    })
  }

  it.effect("moves only orders of the provider that signed the event", () =>
    Effect.gen(function*() {
      for (const [own, other] of [[testWire, stripeWire], [stripeWire, testWire]] as const) {
        const order = yield* orderInApp({ ...unpaid, provider: own.provider })
        accepted(yield* report(other, succeeded, order))
        assert.strictEqual((yield* read(order)).text("data.status"), "pending", `signed by ${other.provider}`)
        accepted(yield* report(own, succeeded, order))
        assert.strictEqual((yield* read(order)).text("data.status"), "confirmed", own.provider)
      }
    }))

  it.effect("records the change with the request of the provider in the change log", () =>
    Effect.gen(function*() {
      const body = testWire.event(succeeded, yield* orderInApp(unpaid))
      yield* send(body, { ...testWire.sign(body), "x-request-id": "from-the-provider" })
      const entries = yield* onDatabase((sql) =>
        sql`select type, actor_id, actor_type, source, ip, before->>'status' as before, payload->>'status' as after
          from outbox_events where request_id = 'from-the-provider' order by entry_number`
      )
      assert.deepStrictEqual(entries, [{
        type: "orders.statusChange",
        actor_id: "test-webhook",
        actor_type: "api_key",
        source: "rest",
        ip: "127.0.0.1",
        before: "pending",
        after: "confirmed"
      }])
    }))

  it.effect("counts the whole amount due as captured when the event names none", () =>
    Effect.gen(function*() {
      const order = yield* orderInApp(unpaid)
      yield* report(testWire, succeeded, order, { amount: null })
      assert.strictEqual((yield* read(order)).number("data.amountCaptured"), order.grandTotal)
    }))

  it.effect("gives the money of a cancelled order back once, and does not confirm it", () =>
    Effect.gen(function*() {
      const order = yield* orderInApp({ ...unpaid, status: "cancelled" })
      yield* reportTwice(testWire, succeeded, order)
      assert.strictEqual((yield* read(order)).text("data.status"), "cancelled")
      assert.lengthOf(yield* refundsOf(order), 1)
    }))

  it.effect("confirms an order once for ten concurrent events", () =>
    Effect.gen(function*() {
      const order = yield* orderInApp(unpaid)
      const body = testWire.event(succeeded, order)
      const answers = yield* Effect.all(Array.from({ length: 10 }, () => send(body, testWire.sign(body))), {
        concurrency: "unbounded"
      })
      assert.isTrue(answers.every(({ status }) => status === 200))
      assert.lengthOf(answers.filter((answer) => answer.at("data.duplicate") === undefined), 1)
      assert.lengthOf(yield* historyOf(order), 1)
    }))

  it.effect("treats the same event id in another organization as another event", () =>
    Effect.gen(function*() {
      const [here, there] = [
        yield* orderInApp(unpaid),
        yield* orderInApp({ ...unpaid, organizationId: "org_there" })
      ]
      const id = newId()
      yield* report(testWire, succeeded, here, {}, id)
      accepted(yield* report(testWire, succeeded, there, {}, id))
      assert.strictEqual((yield* read(there)).text("data.status"), "confirmed")
    }))

  it.effect("cancels a pending order whose payment failed or ended, and gives its stock back", () =>
    Effect.gen(function*() {
      // An authorization whose payment failed is voided; one that has ended needs no void.
      for (const [type, voids] of [[failed, 1], [ended, 0]] as const) {
        const order = yield* orderInApp({ ...unpaid, lines: [{ quantity: 2 }], onHand: 5 })
        accepted(yield* report(testWire, type, order))
        assert.strictEqual((yield* read(order)).text("data.status"), "cancelled")
        assert.deepStrictEqual(yield* stockInApp(order), { onHand: 5, reserved: 0, version: 1, hold: "released" })
        assert.lengthOf(yield* refundsOf(order), voids, type)
      }
    }))

  it.effect("counts a refund that the service itself asked for only once", () =>
    Effect.gen(function*() {
      const order = yield* orderInApp({ ...paid, status: "confirmed" })
      yield* api("PATCH", `/api/orders/${order.id}/status`, { as: asAdmin, body: { status: "cancelled" } })
      accepted(yield* report(testWire, "charge.refunded", order))
      assert.strictEqual((yield* read(order)).number("data.refundedTotal"), 1_000)
    }))
})
