import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { audit, soldOf } from "../support/Audit.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aGuestCart, aProduct, putInto } from "../support/Purchase.ts"
import { aRush, everybodyBuys, soldExactly } from "../support/Rush.ts"
import { startDeployment, startService, talkingTo } from "../support/Service.ts"
import { api } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

const fiftyAdds = Effect.gen(function*() {
  const product = yield* aProduct({ stock: 1_000 })
  const cart = yield* aGuestCart()
  yield* Effect.forEach(Array.from({ length: 50 }), () => putInto(cart, product), { concurrency: "unbounded" })
  const found = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers })
  assert.strictEqual(found.list("data.lineItems").length, 1)
  assert.strictEqual(found.number("data.lineItems.0.quantity"), 50)
})

/** On five pieces, and then on five of which three more can be sold. */
const twentyOnFive = (databaseUrl: string) =>
  Effect.forEach([0, 3], (later) =>
    Effect.gen(function*() {
      const { carts, product } = yield* aRush(5, 20, later)
      yield* soldExactly(databaseUrl, product, 5 + later, yield* everybodyBuys(carts))
    }))

describe("a rush", () => {
  it.live(
    "of 20 buyers on 5 pieces and of 50 adds to one cart ends right in one process",
    () =>
      Effect.gen(function*() {
        const { url } = yield* freshDatabase
        const app = talkingTo(yield* startService({ databaseUrl: url }), url)
        yield* twentyOnFive(url).pipe(Effect.provide(app))
        yield* fiftyAdds.pipe(Effect.provide(app))
      })
  )

  it.live(
    "ends right across two runners behind one edge, also while one of them is killed",
    () =>
      Effect.gen(function*() {
        const { url } = yield* freshDatabase
        const { apis: [edge], runners: [runner] } = yield* startDeployment(url, { apis: 1, runners: 2 })
        assert.isDefined(edge)
        assert.isDefined(runner)
        const app = talkingTo(edge, url)
        yield* twentyOnFive(url).pipe(Effect.provide(app))
        yield* fiftyAdds.pipe(Effect.provide(app))

        const { carts, product } = yield* aRush(5, 20, 3).pipe(Effect.provide(app))
        const buyers = yield* Effect.forkChild(everybodyBuys(carts).pipe(Effect.provide(app)))
        yield* Effect.promise(() => waitFor("the first sale", () => Effect.runPromise(soldOf(url, product))))
        runner.kill("SIGKILL")
        const answers = yield* Fiber.join(buyers)
        yield* audit(url)
        assert.isAtMost(yield* soldOf(url, product), 8)
        const late = carts.filter((_, n) => answers[n]?.status !== 201)
        const recorded = yield* everybodyBuys(late, 2).pipe(Effect.provide(app))
        yield* soldExactly(url, product, 8, [...answers.filter(({ status }) => status === 201), ...recorded])
      })
  )
})
