import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { type FaultPoint, faultPoints } from "../../src/workflows/checkout/FaultPoint.ts"
import { audit, cartOf, soldOf } from "../support/Audit.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aCartWith, aProduct, checkOut, type GuestCart } from "../support/Purchase.ts"
import { restart, startService, talkingTo } from "../support/Service.ts"
import { persistently } from "../support/ServiceCalls.ts"

const withKey = (cart: GuestCart, body: object = {}) => checkOut(cart, body, { "idempotency-key": `key-${cart.id}` })

/**
 * Two buyers, one with a key and one without, when the process dies at a step boundary of the first checkout that
 * gets there; then the same process without the fault. Gives what the one with the key is told in the end.
 */
const dyingAt = Effect.fnUntraced(function*(faultPoint: FaultPoint, body: object = {}) {
  const { url: databaseUrl } = yield* freshDatabase
  const doomed = yield* startService({ databaseUrl, faultPoint })
  const { first, keyed, keyless } = yield* Effect.gen(function*() {
    const product = yield* aProduct({ stock: 10 })
    const keyed = yield* aCartWith(product)
    const keyless = yield* aCartWith(product)
    const first = yield* Effect.forkChild(Effect.all([withKey(keyed, body), checkOut(keyless, body)], {
      concurrency: "unbounded"
    }))
    return { first: yield* Fiber.join(first), keyed: { cart: keyed, product }, keyless }
  }).pipe(Effect.provide(talkingTo(doomed, databaseUrl)))
  assert.strictEqual((yield* Effect.promise(() => doomed.ended)).signal, "SIGKILL")
  assert.strictEqual(first[0].status, 0, "nobody is told anything by a dead process")
  const service = yield* restart(doomed, { databaseUrl })
  const app = talkingTo(service, databaseUrl)
  const told = yield* withKey(keyed.cart, body).pipe(persistently(), Effect.provide(app))
  yield* audit(databaseUrl)
  return { app, databaseUrl, keyed: keyed.cart, keyless, product: keyed.product, told }
})

describe("a process that dies in the middle of a checkout", () => {
  it.live.each(faultPoints)(
    "at the boundary \"%s\" leaves one order for the one who asks again",
    (point) =>
      Effect.gen(function*() {
        const { app, databaseUrl, keyed, keyless, product, told } = yield* dyingAt(point)
        assert.strictEqual(told.status, 201, JSON.stringify(told.body))
        assert.deepStrictEqual(yield* cartOf(databaseUrl, keyed.id), { status: "checked_out", orders: 1 })
        const again = yield* withKey(keyed).pipe(persistently(), Effect.provide(app))
        assert.strictEqual(again.at("data.id"), told.at("data.id"))

        const cart = yield* cartOf(databaseUrl, keyless.id)
        if (cart.status === "active") {
          assert.strictEqual((yield* checkOut(keyless).pipe(Effect.provide(app))).status, 201)
        }
        assert.deepStrictEqual(yield* cartOf(databaseUrl, keyless.id), { status: "checked_out", orders: 1 })
        yield* audit(databaseUrl)
        assert.strictEqual(yield* soldOf(databaseUrl, product), 2)
      }),
    60_000
  )
})
