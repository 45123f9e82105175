import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { audit } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith, addTo, aProduct, checkOut, type GuestCart } from "../support/Purchase.ts"
import { separateServer } from "../support/SeparateServer.ts"
import { startService, talkingTo, talkingToAll } from "../support/Service.ts"
import { persistently } from "../support/ServiceCalls.ts"
import { auditConfirmed, shoppers, unannounced } from "../support/Shoppers.ts"
import { type Answer, api } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

const refusesPolitely = ({ at, headers, status }: Answer) => {
  assert.strictEqual(status, 503)
  assert.strictEqual(at("error.code"), "SERVICE_UNAVAILABLE")
  assert.isTrue(headers.has("retry-after"))
}

/** Repeats a checkout until it succeeds, under one key: a repeat without it would find the cart already sold. */
const worksAgain = (cart: GuestCart) =>
  eventually(
    "a checkout to succeed",
    Effect.map(checkOut(cart, {}, { "idempotency-key": `again-${cart.id}` }), ({ status }) => status === 201)
  )

/** Waits for this status of readiness, for the reason that is given. */
const readyWith = (status: number, reason?: string) =>
  eventually(
    `readiness ${status}`,
    Effect.map(
      api("GET", "/api/ready"),
      (answer) => answer.status === status && answer.at("checks.database.message") === reason
    )
  )

it.live(
  "a database that goes away and comes back is waited for with 503, and nothing is lost",
  () =>
    Effect.gen(function*() {
      const database = yield* separateServer
      const service = yield* startService({ databaseUrl: database.url })
      const recorded = unannounced()
      let closing = false
      yield* Effect.gen(function*() {
        const product = yield* aProduct({ stock: 100_000 })
        const [cart, spare] = [yield* aCartWith(product), yield* aCartWith(product)]
        const crowd = yield* Effect.forkChild(shoppers(4, product, recorded, () => closing))
        const moreOrders = (count: number) =>
          Effect.promise(() =>
            waitFor("orders", () => recorded.orders.length >= count || crowd.pollUnsafe() !== undefined)
          )
        yield* moreOrders(10)
        yield* database.stop
        refusesPolitely(yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers }))
        refusesPolitely(yield* addTo(cart, product))
        refusesPolitely(yield* api("GET", "/api/catalog/entities"))
        // Its answer may be a second old.
        yield* eventually("that says so", Effect.map(api("GET", "/api/health"), ({ status }) => status === 503))
        yield* readyWith(503, "The database does not answer.")
        yield* database.start
        yield* worksAgain(spare)
        yield* readyWith(200)
        yield* moreOrders(recorded.orders.length + 10)
        closing = true
        yield* Fiber.join(crowd)
      }).pipe(Effect.provide(talkingTo(service, database.url)))
      assert.isTrue(service.running(), "the very same process")
      yield* audit(database.url)
      yield* auditConfirmed(database.url, recorded)
      assert.deepStrictEqual([...recorded.refusals], [], "no shopper was refused because of the restart")
    })
)

it.live.each([2_000, 10_000])(
  "orders that were under way end well after an outage of the database of %s ms, in both of two processes",
  (outageMs) =>
    Effect.gen(function*() {
      const database = yield* separateServer
      const start = startService({ databaseUrl: database.url })
      const services = yield* Effect.all([start, start], { concurrency: 2 })
      yield* Effect.gen(function*() {
        const product = yield* aProduct({ stock: 1_000 })
        const carts = yield* Effect.replicateEffect(aCartWith(product), 24)
        const buy = (cart: GuestCart) => persistently(checkOut(cart, {}, { "idempotency-key": `key-${cart.id}` }))
        const buyers = yield* Effect.forkChild(Effect.forEach(carts, buy, { concurrency: "unbounded" }))
        yield* database.outage(outageMs)
        const answers = yield* Fiber.join(buyers)
        assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
      }).pipe(Effect.provide(talkingToAll(services, database.url)))
      yield* audit(database.url)
    })
)
