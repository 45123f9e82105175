import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { audit, auditAlways, auditPayments } from "../support/Audit.ts"
import { emulatedService, startEmulator } from "../support/PaymentEmulator.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aProduct } from "../support/Purchase.ts"
import { placeOf, talkingTo } from "../support/Service.ts"
import { auditConfirmed, shoppers, unannounced } from "../support/Shoppers.ts"
import { waitFor } from "../support/waitFor.ts"

const kills = Number(process.env["STOA_CHAOS_KILLS"] ?? 500)
const crowd = 8
const auditEvery = 25

const methods = ["card", "card", "card", "nocapture", "card", "card", "card", "decline"]

it.live(`${kills} kills at random moments lose and double nothing`, () =>
  Effect.gen(function*() {
    const { url: databaseUrl } = yield* freshDatabase
    const emulator = yield* startEmulator
    const options = { databaseUrl, ...emulatedService(emulator) }
    const edge = yield* placeOf({ ...options, role: "api" })
    const places = [
      yield* placeOf({ ...options, role: "runner" }),
      yield* placeOf({ ...options, role: "runner" }),
      edge
    ]
    const app = talkingTo(edge.service(), databaseUrl)
    const product = yield* aProduct({ stock: 10_000_000 }).pipe(Effect.provide(app))
    const recorded = unannounced()
    let closing = false
    const buyers = yield* Effect.forkChild(
      shoppers(crowd, product, recorded, () => closing, methods).pipe(Effect.provide(app))
    )
    for (let kill = 1; kill <= kills; kill++) {
      // A random number of orders from now: a moment that is random and still tied to work being done.
      const wanted = recorded.orders.length + Math.floor(Math.random() * 12)
      yield* Effect.promise(() =>
        waitFor(
          "orders between the kills",
          () => recorded.orders.length >= wanted || buyers.pollUnsafe() !== undefined,
          90_000
        )
      )
      if (buyers.pollUnsafe() !== undefined) break
      const place = places[Math.floor(Math.random() * places.length)] ?? edge
      yield* Effect.andThen(place.kill, place.replace)
      if (kill % auditEvery === 0) {
        yield* auditAlways(databaseUrl)
        console.log(
          `${kill} kills, ${recorded.orders.length} orders, refused ${JSON.stringify([...recorded.refusals])}`
        )
      }
    }
    closing = true
    yield* Fiber.join(buyers)
    yield* audit(databaseUrl)
    yield* Effect.promise(() =>
      waitFor(
        "nothing to be set aside",
        () => emulator.payments().every(({ status }) => status !== "requires_capture"),
        60_000
      )
    )
    yield* auditPayments(databaseUrl, emulator)
    yield* auditConfirmed(databaseUrl, recorded)
    assert.isAbove(recorded.orders.length, kills)
  }))
