import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Record } from "effect"
import { refused } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { startStripe, stripeEvent } from "../support/StripeEmulator.ts"
import { type TestApp, testAppOn } from "../support/TestApp.ts"
import { deliver, moveTo, readOrder, report, until } from "./StripeStore.ts"

/** Two accounts at separate Stripes, and a service that can be started with either as its default. */
const given = Effect.gen(function*() {
  const { url } = yield* freshDatabase
  const [here, there] = [yield* startStripe("sk_test_here"), yield* startStripe("sk_test_there")]
  const stripe = [
    { id: "stripe", secretKey: "sk_test_here", webhookSecret: "whsec_here", apiUrl: here.url },
    { id: "stripe_eu", secretKey: "sk_test_there", webhookSecret: ["whsec_new", "whsec_old"], apiUrl: there.url }
  ]
  const started = (byDefault: string, without: ReadonlyArray<string> = []) =>
    testAppOn(url, {
      payments: { stripe: stripe.filter(({ id }) => !without.includes(id)), default: byDefault }
    })
  return { here, there, started }
})

const during = <A, E>(app: Layer.Layer<TestApp, E>, body: Effect.Effect<A, never, TestApp>) =>
  Effect.orDie(Effect.scoped(Effect.provide(body, app)))

/** A guest's checkout of one unit. */
const buy = Effect.fnUntraced(function*(paymentMethodId: string, paymentMethodToken?: string) {
  const cart = yield* aCartWith(yield* aProduct())
  return yield* checkOut(cart, { paymentMethodId, ...paymentMethodToken === undefined ? {} : { paymentMethodToken } })
})

it.live(
  "captures, refunds and voids at the account that authorized, also after the default has changed",
  () =>
    Effect.gen(function*() {
      const { here, started, there } = yield* given
      const orders = yield* during(
        started("stripe"),
        Effect.gen(function*() {
          const made = {
            named: yield* buy("stripe_eu", "pm_card"),
            waiting: yield* buy("pm_3ds_1"),
            voided: yield* buy("pm_3ds_2"),
            paid: yield* buy("pm_card"),
            test: yield* buy("test")
          }
          return Record.map(made, (order) => {
            assert.strictEqual(order.status, 201, JSON.stringify(order.body))
            return order.text("data.id")
          })
        })
      )
      assert.strictEqual(here.ledger.intents.size, 3)
      assert.strictEqual(there.paymentOf(orders.named).amount_received, 1_000)
      yield* during(
        started("stripe_eu"),
        Effect.gen(function*() {
          const intent = here.paymentOf(orders.waiting)
          intent.status = "requires_capture"
          // The other account's secret signs nothing for this one's payments.
          yield* deliver(stripeEvent("payment_intent.amount_capturable_updated", intent), "whsec_new")
          assert.strictEqual((yield* readOrder(orders.waiting)).at("data.amountCaptured"), null)
          yield* deliver(stripeEvent("payment_intent.amount_capturable_updated", intent), "whsec_here")
          yield* until(orders.waiting, "amountCaptured", 1_000)
          for (const order of [orders.voided, orders.paid, orders.named, orders.test]) yield* moveTo(order, "cancelled")
          const { voided } = orders
          yield* eventually("the void", Effect.sync(() => here.paymentOf(voided).status === "canceled"))
          for (const order of [orders.paid, orders.named, orders.test]) yield* until(order, "refundedTotal", 1_000)
          assert.strictEqual(here.ledger.refundedOf(here.paymentOf(orders.paid).id), 1_000)
          assert.strictEqual(there.ledger.refundedOf(there.paymentOf(orders.named).id), 1_000)
          const now = yield* buy("pm_card")
          assert.strictEqual(there.paymentOf(now.text("data.id")).status, "succeeded")
        })
      )
      assert.strictEqual(there.ledger.intents.size, 2)
      assert.strictEqual(here.ledger.intents.size, 3)
    }).pipe(Effect.scoped)
)

it.live("accepts events under both secrets while one replaces the other", () =>
  Effect.gen(function*() {
    const { started, there } = yield* given
    yield* during(
      started("stripe_eu"),
      Effect.gen(function*() {
        for (const secret of ["whsec_old", "whsec_new"]) {
          const order = (yield* buy("pm_card")).text("data.id")
          yield* deliver(stripeEvent("payment_intent.succeeded", there.paymentOf(order)), secret)
          assert.strictEqual((yield* readOrder(order)).at("data.status"), "confirmed", secret)
        }
      })
    )
  }).pipe(Effect.scoped))

it.live(
  "answers 503 to events of an account without a secret, so that Stripe retries",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const stripe = yield* startStripe("sk_test_here")
      const app = testAppOn(url, { payments: { stripe: { secretKey: "sk_test_here", apiUrl: stripe.url } } })
      yield* during(
        app,
        Effect.gen(function*() {
          const order = (yield* buy("pm_card")).text("data.id")
          const answer = yield* report("succeeded", stripe.paymentOf(order))
          refused(answer, 503, "WEBHOOK_SECRET_MISSING")
          assert.strictEqual(answer.headers.get("retry-after"), "1")
          assert.strictEqual((yield* readOrder(order)).at("data.status"), "pending")
        })
      )
    }).pipe(Effect.scoped)
)
