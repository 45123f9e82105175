import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { assertNothingLeft, assertTakenBack, checkoutFailed, refused, stockOf } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { stripeEvent } from "../support/StripeEmulator.ts"
import type { StripeIntent } from "../support/StripeLedger.ts"
import { api, asAdmin, at, live } from "../support/TestApp.ts"
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

layer(stripeStore({ timeoutMs: 2_000 }), live)(
  "a store with a Stripe account",
  (it) => {
    it.effect("authorizes and captures the total once with its metadata, and confirms the order by the event", () =>
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

    it.effect("sends a key with every call that moves money", () =>
      Effect.gen(function*() {
        const { calls } = yield* Stripe
        const before = calls.length
        const { order } = yield* bought("pm_card")
        assert.deepStrictEqual(calls.slice(before), [
          { call: "create", key: order },
          { call: "capture", key: `${order}:capture` }
        ])
      }))

    it.effect("shows the holder of an order alone how to confirm its payment, as Stripe has it now", () =>
      Effect.gen(function*() {
        const { cart, intent, order } = yield* bought("pm_3ds_later")
        const read = api("GET", `/api/orders/${order}`, { headers: cart.headers })
        assert.deepInclude((yield* read).at("data.payment"), {
          status: "requires_action",
          provider: "stripe",
          clientSecret: intent.client_secret
        })
        assert.isNull((yield* readOrder(order)).at("data.payment.clientSecret"))
        intent.status = "requires_capture"
        yield* report("amount_capturable_updated", intent)
        yield* until(order, "payment.status", "paid")
        assert.isNull((yield* read).at("data.payment.clientSecret"))
      }))

    it.effect("refuses a checkout in the bank's words alone, and leaves no order, stock or payment", () =>
      Effect.gen(function*() {
        const refusals = [
          ["pm_declined", /The payment was refused\. Your card was declined\./, assertNothingLeft],
          [
            "pm_missing",
            /The payment was refused\. The payment provider refused the request\.$/,
            assertNothingLeft
          ],
          ["pm_unpaid", /The payment could not be captured\. Your card was declined\./, assertTakenBack]
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

    it.effect("makes no payment at Stripe for an order that costs nothing", () =>
      Effect.gen(function*() {
        const { calls } = yield* Stripe
        const before = calls.length
        const { made } = yield* buying("pm_card", {}, { price: 0 })
        assert.deepStrictEqual([made.status, made.at("data.amountCaptured")], [201, 0])
        assert.strictEqual((yield* moveTo(made.text("data.id"), "cancelled")).status, 200)
        assert.strictEqual(calls.length, before)
      }))

    it.effect("captures a payment after its shopper confirmed it, and then confirms the order", () =>
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

    it.effect("lets the shopper choose an instrument at Stripe", () =>
      Effect.gen(function*() {
        const { intent, made, order } = yield* bought(null)
        assert.strictEqual(made.at("data.paymentClientSecret"), intent.client_secret)
        assert.strictEqual(intent.status, "requires_payment_method")
        intent.status = "requires_capture"
        yield* report("amount_capturable_updated", intent)
        yield* until(order, "amountCaptured", 1_000)
      }))

    it.effect("cancels the order when its shopper fails to confirm, with payment and stock", () =>
      Effect.gen(function*() {
        const { cart, entityId, intent, order } = yield* bought("pm_3ds")
        intent.status = "requires_payment_method"
        yield* report("payment_failed", intent)
        assert.strictEqual((yield* readOrder(order)).at("data.status"), "cancelled")
        yield* voided(intent)
        yield* assertTakenBack(cart.id, entityId)
      }))

    it.effect("voids an unconfirmed payment when its order is cancelled", () =>
      Effect.gen(function*() {
        const { intent, order } = yield* bought("pm_3ds")
        assert.strictEqual((yield* moveTo(order, "cancelled")).status, 200)
        yield* voided(intent)
        yield* report("canceled", intent)
        assert.strictEqual((yield* readOrder(order)).at("data.status"), "cancelled")
      }))

    it.effect("refunds a payment once that succeeds after the cancellation", () =>
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

    it.effect("refunds a cancelled order in full once, also when Stripe's answer is lost", () =>
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

    it.effect("records the total that was refunded at Stripe", () =>
      Effect.gen(function*() {
        const { intent, order } = yield* bought("pm_card")
        yield* reportRefunded(intent, 300)
        assert.strictEqual((yield* readOrder(order)).at("data.refundedTotal"), 300)
        yield* reportRefunded(intent, 500)
        assert.strictEqual((yield* readOrder(order)).at("data.refundedTotal"), 500)
      }))

    it.effect("records no refund that the bank did not take", () =>
      Effect.gen(function*() {
        const { order } = yield* bought("pm_lost")
        assert.strictEqual((yield* moveTo(order, "cancelled")).status, 200)
        assert.strictEqual((yield* readOrder(order)).at("data.refundedTotal"), 0)
      }))

    for (const fault of ["drop", "hear", "limit", "break"] as const) {
      it.effect(`moves the money once or not at all when the authorization meets: ${fault}`, () =>
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

      it.effect(`captures once when the capture meets: ${fault}`, () =>
        Effect.gen(function*() {
          const stripe = yield* Stripe
          stripe.fault("capture", fault)
          const { intent, made } = yield* bought("pm_card")
          assert.strictEqual(made.at("data.amountCaptured"), 1_000)
          assert.strictEqual(intent.amount_received, 1_000)
        }))
    }

    it.effect("waits under its key for an authorization that is still running", () =>
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

    it.effect("voids a payment whose authorization was never answered", () =>
      Effect.gen(function*() {
        const stripe = yield* Stripe
        // Three tries, each made twice by the library, and those of the durable process behind them.
        stripe.fault("create", "hear", 8)
        const { cart, entityId, made } = yield* buying("pm_card")
        checkoutFailed(made, /The payment was refused/)
        yield* assertNothingLeft(cart.id, entityId)
        yield* eventually(
          "the payment to be void",
          Effect.map(Effect.provideService(paymentsOf(cart), Stripe, stripe), ([one]) => one?.status === "canceled")
        )
      }))

    it.effect("accepts disputes and other events without a change, and shows those for a person in the timeline", () =>
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

    it.effect("records a dispute once, and none of a payment that Stripe cannot find", () =>
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

    it.effect("refuses an old or malformed signature with 400", () =>
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
  }
)
