import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { audit } from "../support/Audit.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { startService, talkingTo } from "../support/Service.ts"
import { persistently } from "../support/ServiceCalls.ts"
import { waitFor } from "../support/waitFor.ts"

const buyers = 24

it.live(
  "no shopper waits for more than five seconds for an order while another process comes and goes",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const service = yield* startService({ databaseUrl: url })
      const took: Array<number> = []
      let closing = false
      const buyer = (product: string) =>
        Effect.gen(function*() {
          const cart = yield* aCartWith(product)
          const began = performance.now()
          const bought = yield* checkOut(cart, {}, { "idempotency-key": cart.id }).pipe(persistently)
          assert.strictEqual(bought.status, 201, JSON.stringify(bought.body))
          took.push(performance.now() - began)
        }).pipe(Effect.repeat({ until: () => closing }))
      const ordersOfAll = Effect.suspend(() => {
        const wanted = took.length + 3 * buyers
        return Effect.promise(() => waitFor("orders", () => took.length >= wanted, 60_000))
      })
      yield* Effect.gen(function*() {
        const product = yield* aProduct({ stock: 100_000 })
        const crowd = yield* Effect.forkChild(
          Effect.forEach(Array.from({ length: buyers }, () => product), buyer, { concurrency: "unbounded" })
        )
        for (let times = 0; times < 3; times++) {
          const other = yield* startService({ databaseUrl: url })
          yield* ordersOfAll
          other.kill("SIGTERM")
          assert.deepStrictEqual(yield* Effect.promise(() => other.ended), { code: 0, signal: null })
          yield* ordersOfAll
        }
        closing = true
        yield* Fiber.join(crowd)
      }).pipe(Effect.provide(talkingTo(service, url)))
      assert.isAtMost(Math.max(...took), 5_000)
      yield* audit(url)
    }),
  120_000
)
