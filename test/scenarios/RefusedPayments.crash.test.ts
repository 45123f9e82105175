import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { audit, auditPayments, onDatabase } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { emulatedService, startEmulator } from "../support/PaymentEmulator.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aProduct } from "../support/Purchase.ts"
import { placeOf, startService, talkingToAll } from "../support/Service.ts"
import { auditConfirmed, shoppers, unannounced } from "../support/Shoppers.ts"

const kills = 3

/** A third of the payments is refused at the authorization and a third at the capture. */
const methods = ["card", "nocapture", "decline"]

/** As if each request were repeated after its lease only: shoppers repeat much sooner here. */
const leasesRunOut = (url: string) =>
  onDatabase(
    url,
    (sql) => sql`update idempotency_keys set locked_until = now() - interval '1 second' where status = 'running'`
  ).pipe(
    Effect.repeat(Schedule.spaced("100 millis"))
  )

it.live(
  "confirms exactly the orders that stay when processes die and most payments are refused",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const emulator = yield* startEmulator
      // Longer between an order and its capture, where a repeat may find it.
      emulator.behave({ late: 150 }, "capture")
      const options = { databaseUrl: url, ...emulatedService(emulator) }
      const mortal = yield* placeOf(options)
      const other = yield* startService(options)
      const recorded = unannounced()
      const answers = () => recorded.orders.length + [...recorded.refusals.values()].reduce((sum, n) => sum + n, 0)
      let closing = false
      yield* Effect.gen(function*() {
        const product = yield* aProduct({ stock: 100_000 })
        yield* Effect.forkChild(leasesRunOut(url))
        const buyers = yield* Effect.forkChild(shoppers(9, product, recorded, () => closing, methods))
        for (let kill = 0; kill < kills; kill++) {
          const wanted = answers() + 9 + kill
          const isOver = Effect.sync(() => answers() >= wanted || buyers.pollUnsafe() !== undefined)
          yield* eventually("shoppers to be answered between the kills", isOver, 90_000)
          if (buyers.pollUnsafe() !== undefined) break
          yield* Effect.andThen(mortal.kill, mortal.replace)
        }
        closing = true
        yield* Fiber.join(buyers)
      }).pipe(Effect.provide(talkingToAll([mortal.service(), other], url)))
      yield* audit(url)
      yield* auditPayments(url, emulator)
      yield* auditConfirmed(url, recorded)
      const live = yield* onDatabase(url, (sql) => sql`select 1 from orders where status <> 'cancelled'`)
      assert.strictEqual(live.length, recorded.orders.length, "live orders beside confirmed ones")
      assert.isAbove(recorded.refusals.size, 1)
    }),
  240_000
)
