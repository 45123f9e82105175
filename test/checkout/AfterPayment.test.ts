import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { shopMailingTo } from "../mail/MailedShop.ts"
import { jobsAbout, mailing } from "../mail/MailedShop.ts"
import { Stripe, stripeKey, stripeSecret } from "../payments/StripeStore.ts"
import { audit } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { aFreePort, startMailServer } from "../support/MailServer.ts"
import { addTo, aProduct, checkOut } from "../support/Purchase.ts"
import { startStripe } from "../support/StripeEmulator.ts"
import { type Answer, api, asAdmin, at, TestApp } from "../support/TestApp.ts"
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
    stripe: { secretKey: stripeKey, webhookSecret: stripeSecret, apiUrl: stripe.url, timeoutMs: 400 }
  }
  return Layer.merge(shopMailingTo(port, { payments }), Layer.succeed(Stripe, stripe))
}))

/** A guest's cart with one thing of this type in it, and his address. */
const aCartWithOne = Effect.fnUntraced(function*(type: string, email: string) {
  const entityId = yield* aProduct({ type, stock: 5 })
  const made = yield* api("POST", "/api/carts", { body: { currency: "USD", email } })
  const cart = { id: made.text("data.id"), headers: { "x-cart-secret": made.text("data.secret") } }
  yield* addTo(cart, entityId)
  return { cart, entityId }
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

const assertSold = Effect.fnUntraced(function*(made: Answer, cartId: string, entityId: string) {
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  assert.strictEqual(made.at("data.amountCaptured"), made.at("data.grandTotal"))
  assert.strictEqual((yield* api("GET", `/api/carts/${cartId}`, { as: asAdmin })).at("data.status"), "checked_out")
  assert.strictEqual((yield* stockOf(entityId)).reserved, 1)
})

const lineOf = (orderId: string) =>
  Effect.map(
    api("GET", `/api/orders/${orderId}`, { as: asAdmin }),
    (order) => order.at("data.lineItems.0.fulfillmentStatus")
  )

layer(Shop, { excludeTestServices: true, timeout: "60 seconds" })("what fails after the payment", (it) => {
  for (const { name, pays } of providers) {
    describe(`with ${name}`, () => {
      it.effect("mail: the order is sold and paid, and the mail leaves once when its server is back", () =>
        Effect.gen(function*() {
          const email = `ann-of-${pays.paymentMethodId}@home.example`
          const { cart, entityId } = yield* aCartWithOne("product", email)
          const made = yield* checkOut(cart, pays)
          yield* assertSold(made, cart.id, entityId)
          const id = made.text("data.id")
          yield* mailing("a try that fails", Effect.map(jobsAbout(id), ([job]) => (job?.attempts ?? 0) > 0))
          assert.strictEqual((yield* api("GET", `/api/orders/${id}`, { as: asAdmin })).at("data.amountCaptured"), 1_000)
          const server = yield* startMailServer({ port })
          const hers = Effect.sync(() => server.arrived.filter(({ to }) => to.includes(email)).length)
          yield* mailing("the confirmation", Effect.map(hers, (count) => count > 0))
          yield* mailing("its job to end", Effect.map(jobsAbout(id), ([job]) => job?.status === "succeeded"))
          assert.strictEqual(yield* hers, 1)
        }))

      it.effect("the delivery of what is digital: the order is sold and paid, and a job hands it over once it can", () =>
        Effect.gen(function*() {
          const { cart, entityId } = yield* aCartWithOne("digitalDownload", "dan@home.example")
          yield* breakDelivery
          const made = yield* Effect.ensuring(checkOut(cart, pays), mendDelivery)
          yield* assertSold(made, cart.id, entityId)
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

  it.effect("and the books are in order after all of it", () =>
    Effect.flatMap(TestApp, ({ databaseUrl }) => audit(databaseUrl)))
})
