import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { audit, onDatabase } from "../support/Audit.ts"
import { aCartWith, addTo, aProduct, checkOut } from "../support/Purchase.ts"
import { serverOfItsOwn } from "../support/ServerOfItsOwn.ts"
import { startService, talkingTo } from "../support/Service.ts"
import { persistently } from "../support/ServiceCalls.ts"
import { type Answer, api } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

/** Buys again and again until told to stop; notes each order the shop has confirmed. */
const shopper = Effect.fnUntraced(function*(product: string, orders: Array<string>, done: () => boolean) {
  for (let n = 0; !done(); n++) {
    const cart = yield* aCartWith(product).pipe(Effect.catchDefect(() => Effect.succeed(undefined)))
    if (cart === undefined) continue
    const told = yield* checkOut(cart, {}, { "idempotency-key": `${cart.id}-${n}` }).pipe(persistently("60 seconds"))
    if (told.status === 201) orders.push(told.text("data.id"))
    // A cart whose line could not be added is empty; anything else would be a wrong answer.
    else assert.strictEqual(told.at("error.message"), "The cart is empty.", JSON.stringify(told.body))
  }
})

const refusesPolitely = ({ at, headers, status }: Answer) => {
  assert.strictEqual(status, 503)
  assert.strictEqual(at("error.code"), "SERVICE_UNAVAILABLE")
  assert.isTrue(headers.has("retry-after"))
}

it.live(
  "a database that goes away and comes back is waited for with 503, and nothing is lost",
  () =>
    Effect.gen(function*() {
      const database = yield* serverOfItsOwn
      const service = yield* startService({ databaseUrl: database.url })
      const orders: Array<string> = []
      let closing = false
      yield* Effect.gen(function*() {
        const product = yield* aProduct({ stock: 100_000 })
        const cart = yield* aCartWith(product)
        const spare = yield* aCartWith(product)
        const shoppers = yield* Effect.forkChild(
          Effect.forEach(Array.from({ length: 4 }), () => shopper(product, orders, () => closing), {
            concurrency: "unbounded"
          })
        )
        yield* Effect.promise(() => waitFor("some orders", () => orders.length >= 10))
        yield* database.stop
        refusesPolitely(yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers }))
        refusesPolitely(yield* addTo(cart, product))
        refusesPolitely(yield* api("GET", "/api/catalog/entities"))
        assert.strictEqual((yield* api("GET", "/api/health")).status, 503)

        yield* database.start
        const back = performance.now()
        const first = yield* checkOut(spare).pipe(
          Effect.repeat({ until: ({ status }) => status === 201, schedule: Schedule.spaced("50 millis") }),
          Effect.timeout("15 seconds")
        )
        assert.strictEqual(first.status, 201)
        assert.isAtMost(performance.now() - back, 5_000, "the service works again within 5 s")
        const before = orders.length
        yield* Effect.promise(() => waitFor("more orders", () => orders.length >= before + 10))
        closing = true
        yield* Fiber.join(shoppers)
      }).pipe(Effect.provide(talkingTo(service, database.url)))
      assert.isTrue(service.running(), "the very same process")
      yield* audit(database.url)
      const kept = yield* onDatabase(database.url, (sql) => sql<{ id: string }>`select id::text as id from orders`)
      const ids = new Set(kept.map(({ id }) => id))
      assert.deepStrictEqual(orders.filter((id) => !ids.has(id)), [], "every confirmed order is there")
    }),
  90_000
)
