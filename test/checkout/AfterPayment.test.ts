import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { jobsAbout, mailing, shopMailingTo } from "../mail/MailedShop.ts"
import { Stripe, stripeKey, stripeSecret } from "../payments/StripeStore.ts"
import { audit } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { aFreePort, startMailServer } from "../support/MailServer.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { startStripe } from "../support/StripeEmulator.ts"
import { type Answer, api, asAdmin, at, live, TestApp } from "../support/TestApp.ts"
import { onDatabase, stockOf } from "./CheckoutFixtures.ts"

/** Both kinds of providers. */
const providers = [
  { name: "the test provider", pays: { paymentMethodId: "test" } },
  { name: "Stripe", pays: { paymentMethodId: "stripe", paymentMethodToken: "pm_card" } }
]

let port = 0

/** The service with both, whose mail server is down until a test starts one, and whose jobs run when a test says so. */
const Shop = Layer.unwrap(Effect.gen(function*() {
  const stripe = yield* startStripe(stripeKey)
  port = yield* aFreePort
  const payments = {
    stripe: { secretKey: stripeKey, webhookSecret: stripeSecret, apiUrl: stripe.url, timeoutMs: 10_000 }
  }
  return Layer.merge(shopMailingTo(port, { payments }), Layer.succeed(Stripe, stripe))
}))

/** The cart of a guest with an address and one product of this type. */
const aCartWithOne = Effect.fnUntraced(function*(type: string, email: string) {
  const entityId = yield* aProduct({ type, stock: 5 })
  return { cart: yield* aCartWith(entityId, 1, email), entityId }
})

/** Nothing can be written down as handed over until this is undone. */
const breakDelivery = onDatabase((sql) =>
  Effect.andThen(
    sql`create or replace function no_delivery() returns trigger language plpgsql as
      $$ begin raise exception 'no delivery today'; end $$`,
    sql`create trigger no_delivery before insert on fulfillments for each row execute function no_delivery()`
  )
)

const mendDelivery = onDatabase((sql) => sql`drop trigger if exists no_delivery on fulfillments`)

/** Runs the deliveries that are waiting, as if the time of each had come. */
const delivering = onDatabase((sql) =>
  sql`update commerce_jobs set wait_until = now() where task_slug = 'fulfillment/deliver' and status = 'pending'`
).pipe(Effect.andThen(api("POST", "/api/jobs/run?limit=100", { as: asAdmin })))

const assertSold = Effect.fnUntraced(function*(made: Answer, cartId: string) {
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  assert.strictEqual(made.at("data.amountCaptured"), made.at("data.grandTotal"))
  assert.strictEqual((yield* api("GET", `/api/carts/${cartId}`, { as: asAdmin })).at("data.status"), "checked_out")
})

const lineOf = (orderId: string) =>
  Effect.map(
    api("GET", `/api/orders/${orderId}`, { as: asAdmin }),
    (order) => order.at("data.lineItems.0.fulfillmentStatus")
  )

layer(Shop, live)("what fails after the payment", (it) => {
  for (const { name, pays } of providers) {
    describe(`with ${name}`, () => {
      it.effect("keeps the order when the mail fails, and sends the mail once when its server is back", () =>
        Effect.gen(function*() {
          const email = `ann-of-${pays.paymentMethodId}@home.example`
          const { cart, entityId } = yield* aCartWithOne("product", email)
          const made = yield* checkOut(cart, pays)
          yield* assertSold(made, cart.id)
          assert.strictEqual((yield* stockOf(entityId)).reserved, 1)
          const id = made.text("data.id")
          yield* mailing("a try that fails", Effect.map(jobsAbout(id), ([job]) => (job?.attempts ?? 0) > 0))
          assert.strictEqual((yield* api("GET", `/api/orders/${id}`, { as: asAdmin })).at("data.amountCaptured"), 1_000)
          const server = yield* startMailServer({ port })
          const sent = Effect.sync(() => server.arrived.filter(({ to }) => to.includes(email)).length)
          yield* mailing("the confirmation", Effect.map(sent, (count) => count > 0))
          yield* mailing("its job to end", Effect.map(jobsAbout(id), ([job]) => job?.status === "succeeded"))
          assert.strictEqual(yield* sent, 1)
        }))

      it.effect("keeps the order when the delivery of a digital line fails, and a job delivers it once it can", () =>
        Effect.gen(function*() {
          const { cart } = yield* aCartWithOne("digitalDownload", "dan@home.example")
          yield* breakDelivery
          const made = yield* Effect.ensuring(checkOut(cart, pays), mendDelivery)
          yield* assertSold(made, cart.id)
          const id = made.text("data.id")
          assert.strictEqual(yield* lineOf(id), "unfulfilled")
          yield* breakDelivery
          yield* Effect.ensuring(delivering, mendDelivery)
          assert.strictEqual(yield* lineOf(id), "unfulfilled")
          yield* eventually(
            "the delivery",
            Effect.andThen(delivering, Effect.map(lineOf(id), (line) => line === "fulfilled"))
          )
          yield* delivering
          const all = yield* api("GET", `/api/orders/${id}/fulfillments`, { as: asAdmin })
          assert.deepStrictEqual(all.list("data").map((one) => at(one, "type")), ["digital-download"])
        }))
    })
  }

  it.effect("leaves books that add up", () => Effect.flatMap(TestApp, ({ databaseUrl }) => audit(databaseUrl)))
})
