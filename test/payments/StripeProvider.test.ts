import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { assertNothingLeft, assertTakenBack, checkoutFailed, refused, stockOf } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { chargeOf, stripeEvent } from "../support/StripeEmulator.ts"
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

    it.effect("that the bank declines says so in its words and leaves nothing", () =>
      Effect.gen(function*() {
        const { cart, entityId, made } = yield* buying("pm_declined")
        checkoutFailed(made, /Payment authorization failed: Your card was declined\./)
        yield* assertNothingLeft(cart.id, entityId)
      }))

    it.effect("with an instrument that Stripe does not know is refused without Stripe's words", () =>
      Effect.gen(function*() {
        const { cart, entityId, made } = yield* buying("pm_missing")
        checkoutFailed(made, /Payment authorization failed: The payment provider refused the request\.$/)
        yield* assertNothingLeft(cart.id, entityId)
      }))

    it.effect("whose capture the bank refuses is taken back: order cancelled, payment void, stock and cart free", () =>
      Effect.gen(function*() {
        const { cart, entityId, made } = yield* buying("pm_unpaid")
        checkoutFailed(made, /Payment capture failed: Your card was declined\./)
        yield* assertTakenBack(cart.id, entityId)
        const { ledger } = yield* Stripe
        const intent = [...ledger.intents.values()].find(({ metadata }) => metadata["cartId"] === cart.id)
        assert.deepStrictEqual([intent?.status, intent?.amount_received], ["canceled", 0])
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
        yield* eventually("the payment to be void", Effect.sync(() => intent.status === "canceled"))
        yield* assertTakenBack(cart.id, entityId)
      }))

    it.effect("is void when the order is cancelled, and asks nothing more of the bank", () =>
      Effect.gen(function*() {
        const { intent, order } = yield* bought("pm_3ds")
        assert.strictEqual((yield* moveTo(order, "cancelled")).status, 200)
        yield* eventually("the payment to be void", Effect.sync(() => intent.status === "canceled"))
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

  describe("trouble on the wire", () => {
    for (const fault of ["drop", "hear", "limit", "break"] as const) {
      it.effect(`at the authorization (${fault}): the money moves once or not at all`, () =>
        Effect.gen(function*() {
          const stripe = yield* Stripe
          stripe.fault("create", fault)
          const { cart, made } = yield* buying("pm_card")
          const own = [...stripe.ledger.intents.values()].filter(({ metadata }) => metadata["cartId"] === cart.id)
          if (fault === "break") {
            // Stripe gives its own breakdown again for a day: nothing was made, and nothing may be made later.
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
        const own = [...stripe.ledger.intents.values()].filter(({ metadata }) => metadata["cartId"] === cart.id)
        assert.deepStrictEqual(own.map(({ amount_received: taken }) => taken), [1_000])
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
          Effect.sync(() =>
            [...stripe.ledger.intents.values()].find(({ metadata }) => metadata["cartId"] === cart.id)?.status ===
              "canceled"
          )
        )
      }))
  })

  describe("events", () => {
    it.effect("that repeat are told to be duplicates, and the stock is sold once", () =>
      Effect.gen(function*() {
        const { entityId, intent } = yield* bought("pm_card")
        const body = stripeEvent("payment_intent.succeeded", intent)
        assert.deepStrictEqual((yield* deliver(body)).at("data"), { received: true })
        assert.deepStrictEqual((yield* deliver(body)).at("data"), { received: true, duplicate: true })
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 100, reserved: 1 })
      }))

    it.effect("of disputes and other kinds are accepted and change nothing; the timeline tells of what needs a person", () =>
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

    it.effect("of a dispute are told once, and of a payment that Stripe cannot find not at all", () =>
      Effect.gen(function*() {
        const { intent } = yield* bought("pm_card")
        const dispute = { id: "dp_2", object: "dispute", amount: 1_000, currency: "usd", payment_intent: intent.id }
        const body = stripeEvent("charge.dispute.created", dispute)
        assert.deepStrictEqual((yield* deliver(body)).at("data"), { received: true })
        assert.deepStrictEqual((yield* deliver(body)).at("data"), { received: true, duplicate: true })
        const unknown = stripeEvent("charge.dispute.created", { ...dispute, payment_intent: "pi_unknown" })
        assert.deepStrictEqual((yield* deliver(unknown)).at("data"), { received: true })
      }))

    it.effect("with a signature that is wrong, old, missing, or over another body are refused with 400", () =>
      Effect.gen(function*() {
        const { intent, order } = yield* bought("pm_card")
        const body = stripeEvent("payment_intent.succeeded", intent)
        refused(yield* deliver(body, "whsec_guessed"), 400, "WEBHOOK_VERIFICATION_FAILED")
        const hourAgo = Math.floor(Date.now() / 1_000) - 3_600
        refused(yield* deliver(body, undefined, hourAgo), 400, "WEBHOOK_VERIFICATION_FAILED")
        refused(yield* api("POST", "/api/payments/webhook", { body }), 400, "WEBHOOK_SIGNATURE_MISSING")
        for (const header of ["", "t=1", "nonsense", "v1=00,t=x"]) {
          const answer = yield* api("POST", "/api/payments/webhook", { body, headers: { "stripe-signature": header } })
          refused(answer, 400, "WEBHOOK_VERIFICATION_FAILED", header)
        }
        for (const other of ["{}", "[]", "no json", JSON.stringify({ id: "", type: "x", data: { object: {} } })]) {
          refused(yield* deliver(other), 400, "WEBHOOK_VERIFICATION_FAILED", other)
        }
        assert.strictEqual((yield* readOrder(order)).at("data.status"), "pending")
      }))

    it.effect("about another payment, amount or currency than the order's confirm nothing", () =>
      Effect.gen(function*() {
        const { intent, order } = yield* bought("pm_card")
        for (const other of [{ id: "pi_other" }, { amount_received: 999 }, { currency: "eur" }]) {
          assert.strictEqual(
            (yield* deliver(stripeEvent("payment_intent.succeeded", { ...intent, ...other }))).status,
            200
          )
        }
        yield* deliver(stripeEvent("charge.refunded", { ...chargeOf(intent, 1_000), payment_intent: "pi_other" }))
        const after = yield* readOrder(order)
        assert.deepStrictEqual([after.at("data.status"), after.at("data.refundedTotal")], ["pending", 0])
      }))
  })

  it.effect("an unknown order's event is accepted, so that Stripe does not come again for days", () =>
    Effect.gen(function*() {
      const { intent } = yield* bought("pm_card")
      const answer = yield* deliver(stripeEvent("payment_intent.succeeded", { ...intent, metadata: { orderId: "x" } }))
      assert.deepStrictEqual(answer.at("data"), { received: true })
      assert.strictEqual((yield* api("GET", "/api/orders/x", { as: asAdmin })).status, 404)
    }))
})
