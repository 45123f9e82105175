import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { assertNothingLeft, assertTakenBack, checkoutFailed, refused, stockOf } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { stripeEvent } from "../support/StripeEmulator.ts"
import type { StripeIntent } from "../support/StripeLedger.ts"
import { api, asAdmin, at } from "../support/TestApp.ts"
import {
  bought,
  buying,
  deliver,
  moveTo,
  readOrder,
  report,
  reportRefunded,
  Stripe,
  stripeStore,
  until
} from "./StripeStore.ts"

/** Payments that Stripe has of a cart. */
const paymentsOf = ({ id }: { readonly id: string }) =>
  Effect.map(Stripe, ({ ledger }) => [...ledger.intents.values()].filter(({ metadata }) => metadata["cartId"] === id))

const voided = (intent: StripeIntent) =>
  eventually("the payment to be void", Effect.sync(() => intent.status === "canceled"))

layer(stripeStore(), { excludeTestServices: true, timeout: "60 seconds" })("a store with a Stripe account", (it) => {
  describe("a purchase", () => {
    it.effect("authorizes and captures the total once, tells Stripe what it is for, and its event confirms the order", () =>
      Effect.gen(function*() {
        const { cart, intent, made, order } = yield* bought("pm_card")
        assert.deepStrictEqual([made.at("data.status"), made.at("data.amountCaptured")], ["pending", 1_000])
        assert.strictEqual(made.at("data.paymentIntentId"), intent.id)
        assert.deepStrictEqual([intent.status, intent.amount_received, intent.currency], ["succeeded", 1_000, "usd"])
        assert.deepStrictEqual(intent.metadata, {
          orderId: order,
          organizationId: "org_default",
          checkoutId: order,
          cartId: cart.id
        })
        assert.strictEqual((yield* report("succeeded", intent)).status, 200)
        assert.strictEqual((yield* readOrder(order)).at("data.status"), "confirmed")
      }))

    it.effect("carries a key on every call that moves money", () =>
      Effect.gen(function*() {
        const { calls } = yield* Stripe
        const before = calls.length
        const { order } = yield* bought("pm_card")
        assert.deepStrictEqual(calls.slice(before), [
          { call: "create", key: order },
          { call: "capture", key: `${order}:capture` }
        ])
      }))

    it.effect("that is refused says so in the bank's words alone, and leaves no order, stock or payment", () =>
      Effect.gen(function*() {
        const refusals = [
          ["pm_declined", /Payment authorization failed: Your card was declined\./, assertNothingLeft],
          [
            "pm_missing",
            /Payment authorization failed: The payment provider refused the request\.$/,
            assertNothingLeft
          ],
          ["pm_unpaid", /Payment capture failed: Your card was declined\./, assertTakenBack]
        ] as const
        for (const [instrument, message, assertUndone] of refusals) {
          const { cart, entityId, made } = yield* buying(instrument)
          checkoutFailed(made, message)
          yield* assertUndone(cart.id, entityId)
          const paid = (yield* paymentsOf(cart)).filter(({ status }) => status !== "requires_payment_method")
          const left = instrument === "pm_unpaid" ? [{ status: "canceled", amount_received: 0 }] : []
          assert.deepStrictEqual(
            paid.map(({ amount_received, status }) => ({ status, amount_received })),
            left,
            instrument
          )
        }
      }))

    it.effect("of nothing needs no payment at Stripe, and can be cancelled", () =>
      Effect.gen(function*() {
        const { calls } = yield* Stripe
        const before = calls.length
        const { made } = yield* buying("pm_card", {}, { price: 0 })
        assert.deepStrictEqual([made.status, made.at("data.amountCaptured")], [201, 0])
        assert.strictEqual((yield* moveTo(made.text("data.id"), "cancelled")).status, 200)
        assert.strictEqual(calls.length, before)
      }))
  })

  describe("a payment that its shopper has to confirm", () => {
    it.effect("leaves the order pending with the client secret; Stripe's event has it captured, the next one confirmed", () =>
      Effect.gen(function*() {
        const { intent, made, order } = yield* bought("pm_3ds")
        assert.deepStrictEqual([made.at("data.status"), made.at("data.amountCaptured")], ["pending", null])
        assert.strictEqual(made.at("data.paymentClientSecret"), intent.client_secret)
        intent.status = "requires_capture"
        yield* report("amount_capturable_updated", intent)
        yield* until(order, "amountCaptured", 1_000)
        yield* report("succeeded", intent)
        assert.strictEqual((yield* readOrder(order)).at("data.status"), "confirmed")
        assert.strictEqual(intent.amount_received, 1_000)
      }))

    it.effect("is the same without an instrument: the shopper chooses one at Stripe", () =>
      Effect.gen(function*() {
        const { intent, made, order } = yield* bought(null)
        assert.strictEqual(made.at("data.paymentClientSecret"), intent.client_secret)
        assert.strictEqual(intent.status, "requires_payment_method")
        intent.status = "requires_capture"
        yield* report("amount_capturable_updated", intent)
        yield* until(order, "amountCaptured", 1_000)
      }))

    it.effect("and does not confirm it: the order is cancelled, the payment void, the stock free", () =>
      Effect.gen(function*() {
        const { cart, entityId, intent, order } = yield* bought("pm_3ds")
        intent.status = "requires_payment_method"
        yield* report("payment_failed", intent)
        assert.strictEqual((yield* readOrder(order)).at("data.status"), "cancelled")
        yield* voided(intent)
        yield* assertTakenBack(cart.id, entityId)
      }))

    it.effect("is void when the order is cancelled, and asks nothing more of the bank", () =>
      Effect.gen(function*() {
        const { intent, order } = yield* bought("pm_3ds")
        assert.strictEqual((yield* moveTo(order, "cancelled")).status, 200)
        yield* voided(intent)
        yield* report("canceled", intent)
        assert.strictEqual((yield* readOrder(order)).at("data.status"), "cancelled")
      }))

    it.effect("is given back when it comes after the cancellation, and once", () =>
      Effect.gen(function*() {
        const { ledger } = yield* Stripe
        const { intent, order } = yield* bought("pm_3ds")
        // The bank has taken it by itself while the cancellation was on its way.
        Object.assign(intent, { status: "succeeded", amount_received: 1_000 })
        yield* moveTo(order, "cancelled")
        yield* report("succeeded", intent)
        yield* until(order, "refundedTotal", 1_000)
        yield* report("succeeded", intent)
        assert.strictEqual(ledger.refundedOf(intent.id), 1_000)
      }))
  })

  describe("money that goes back", () => {
    it.effect("when a paid order is cancelled: all of it, once, also where Stripe's answer is lost", () =>
      Effect.gen(function*() {
        const { ledger, fault } = yield* Stripe
        const { intent, order } = yield* bought("pm_card")
        fault("refund", "hear", 2)
        assert.strictEqual((yield* moveTo(order, "cancelled")).status, 200)
        yield* until(order, "refundedTotal", 1_000)
        assert.strictEqual(ledger.refundedOf(intent.id), 1_000)
        assert.strictEqual(ledger.refunds.filter((one) => one.payment_intent === intent.id).length, 1)
        // Stripe's own report of it changes nothing.
        yield* reportRefunded(intent, 1_000)
        assert.strictEqual((yield* readOrder(order)).at("data.refundedTotal"), 1_000)
      }))

    it.effect("without us: charge.refunded notes what has been given back in all", () =>
      Effect.gen(function*() {
        const { intent, order } = yield* bought("pm_card")
        yield* reportRefunded(intent, 300)
        assert.strictEqual((yield* readOrder(order)).at("data.refundedTotal"), 300)
        yield* reportRefunded(intent, 500)
        assert.strictEqual((yield* readOrder(order)).at("data.refundedTotal"), 500)
      }))

    it.effect("and that the bank does not take: the refund has failed and the order says so", () =>
      Effect.gen(function*() {
        const { order } = yield* bought("pm_lost")
        assert.strictEqual((yield* moveTo(order, "cancelled")).status, 200)
        assert.strictEqual((yield* readOrder(order)).at("data.refundedTotal"), 0)
      }))
  })

  describe("errors on the wire", () => {
    for (const fault of ["drop", "hear", "limit", "break"] as const) {
      it.effect(`at the authorization (${fault}): the money moves once or not at all`, () =>
        Effect.gen(function*() {
          const stripe = yield* Stripe
          stripe.fault("create", fault)
          const { cart, made } = yield* buying("pm_card")
          const own = yield* paymentsOf(cart)
          if (fault === "break") {
            // Stripe replays its error for a day: nothing was made, and nothing may be made later.
            checkoutFailed(made)
            return assert.deepStrictEqual(own, [])
          }
          assert.strictEqual(made.status, 201, JSON.stringify(made.body))
          assert.deepStrictEqual(own.map(({ amount_received: taken }) => taken), [1_000])
        }))

      it.effect(`at the capture (${fault}): paid once`, () =>
        Effect.gen(function*() {
          const stripe = yield* Stripe
          stripe.fault("capture", fault)
          const { intent, made } = yield* bought("pm_card")
          assert.strictEqual(made.at("data.amountCaptured"), 1_000)
          assert.strictEqual(intent.amount_received, 1_000)
        }))
    }

    it.effect("an authorization that is still being worked on is waited for under its key", () =>
      Effect.gen(function*() {
        const stripe = yield* Stripe
        stripe.fault("create", "hold")
        const heard = () => stripe.calls.filter(({ call }) => call === "create").length
        const before = heard()
        const [{ cart, made }] = yield* Effect.all([
          buying("pm_card"),
          Effect.andThen(
            eventually("the service to ask again", Effect.sync(() => heard() >= before + 2)),
            Effect.sync(() => stripe.release())
          )
        ], { concurrency: 2 })
        assert.strictEqual(made.status, 201, JSON.stringify(made.body))
        assert.deepStrictEqual((yield* paymentsOf(cart)).map(({ amount_received: taken }) => taken), [1_000])
      }))

    it.effect("a payment whose authorization was never answered is void in the end", () =>
      Effect.gen(function*() {
        const stripe = yield* Stripe
        // Three tries, each made twice by the library, and those of the durable process behind them.
        stripe.fault("create", "hear", 8)
        const { cart, entityId, made } = yield* buying("pm_card")
        checkoutFailed(made, /Payment authorization failed/)
        yield* assertNothingLeft(cart.id, entityId)
        yield* eventually(
          "the payment to be void",
          Effect.map(Effect.provideService(paymentsOf(cart), Stripe, stripe), ([one]) => one?.status === "canceled")
        )
      }))
  })

  describe("events", () => {
    it.effect("of disputes and other kinds are accepted and change nothing; the timeline shows what needs a person", () =>
      Effect.gen(function*() {
        const { intent, order } = yield* bought("pm_card")
        const dispute = { id: "dp_1", object: "dispute", amount: 1_000, currency: "usd", payment_intent: intent.id }
        for (const type of ["charge.dispute.created", "charge.dispute.closed", "refund.failed", "customer.created"]) {
          const answer = yield* deliver(stripeEvent(type, dispute))
          assert.deepStrictEqual([answer.status, answer.at("data")], [200, { received: true }], type)
        }
        const after = yield* readOrder(order)
        assert.deepStrictEqual([after.at("data.status"), after.at("data.refundedTotal")], ["pending", 0])
        const timeline = yield* api("GET", `/api/orders/${order}/timeline?limit=100`, { as: asAdmin })
        const recorded = timeline.list("data").filter((entry) => at(entry, "kind") === "event").map((entry) =>
          at(entry, "type")
        )
        assert.deepStrictEqual(recorded, ["charge.dispute.created", "charge.dispute.closed", "refund.failed"])
      }))

    it.effect("of a dispute are recorded once, and of a payment that Stripe cannot find not at all", () =>
      Effect.gen(function*() {
        const { entityId, intent } = yield* bought("pm_card")
        const dispute = { id: "dp_2", object: "dispute", amount: 1_000, currency: "usd", payment_intent: intent.id }
        for (
          const body of [
            stripeEvent("charge.dispute.created", dispute),
            stripeEvent("payment_intent.succeeded", intent)
          ]
        ) {
          assert.deepStrictEqual((yield* deliver(body)).at("data"), { received: true })
          assert.deepStrictEqual((yield* deliver(body)).at("data"), { received: true, duplicate: true })
        }
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 100, reserved: 1 })
        const unknown = stripeEvent("charge.dispute.created", { ...dispute, payment_intent: "pi_unknown" })
        assert.deepStrictEqual((yield* deliver(unknown)).at("data"), { received: true })
      }))

    it.effect("with an old or malformed signature are refused with 400", () =>
      Effect.gen(function*() {
        const { intent, order } = yield* bought("pm_card")
        const body = stripeEvent("payment_intent.succeeded", intent)
        const hourAgo = Math.floor(Date.now() / 1_000) - 3_600
        refused(yield* deliver(body, undefined, hourAgo), 400, "WEBHOOK_VERIFICATION_FAILED")
        for (const header of ["", "t=1", "nonsense", "v1=00,t=x"]) {
          const answer = yield* api("POST", "/api/payments/webhook", { body, headers: { "stripe-signature": header } })
          refused(answer, 400, "WEBHOOK_VERIFICATION_FAILED", header)
        }
        assert.strictEqual((yield* readOrder(order)).at("data.status"), "pending")
      }))
  })
})
