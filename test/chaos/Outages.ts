import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { audit } from "../support/Audit.ts"
import { aProduct } from "../support/Purchase.ts"
import { separateServer } from "../support/SeparateServer.ts"
import { startDeployment, talkingTo } from "../support/Service.ts"
import { shoppers, unannounced } from "../support/Shoppers.ts"
import { waitFor } from "../support/waitFor.ts"

const outages = (process.env["STOA_CHAOS_OUTAGES"] ?? "500,3000,8000,3000,15000,500").split(",").map(Number)
const buyers = 8
const bar = 5_000

it.live(`after each of ${outages.length} outages of the database every shopper buys within ${bar} ms`, () =>
  Effect.gen(function*() {
    const database = yield* separateServer
    const { apis: [edge] } = yield* startDeployment(database.url, { apis: 1, runners: 2 })
    assert.isDefined(edge)
    yield* Effect.gen(function*() {
      const product = yield* aProduct({ stock: 1_000_000 })
      const recorded = Array.from({ length: buyers }, unannounced)
      let closing = false
      const crowd = yield* Effect.forkChild(
        Effect.forEach(recorded, (one) => shoppers(1, product, one, () => closing), { concurrency: "unbounded" })
      )
      const allHaveOneMore = Effect.suspend(() => {
        const before = recorded.map(({ orders }) => orders.length)
        const all = () => recorded.every(({ orders }, n) => orders.length > (before[n] ?? 0))
        return Effect.promise(() => waitFor("orders of all", () => all() || crowd.pollUnsafe() !== undefined, 60_000))
      })
      const took: Array<number> = []
      for (const outage of outages) {
        yield* allHaveOneMore
        yield* database.outage(outage)
        const back = performance.now()
        yield* allHaveOneMore
        assert.isUndefined(crowd.pollUnsafe(), "everybody goes on")
        took.push(performance.now() - back)
        console.log(`after ${outage} ms: all bought again in ${Math.round(took.at(-1) ?? 0)} ms`)
      }
      closing = true
      yield* Fiber.join(crowd)
      assert.isAtMost(Math.max(...took), bar)
    }).pipe(Effect.provide(talkingTo(edge, database.url)))
    yield* audit(database.url)
  }))
