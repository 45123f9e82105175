import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { audit } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aCartWith, aProduct, checkOut, type GuestCart } from "../support/Purchase.ts"
import { type Service, startService, talkingTo } from "../support/Service.ts"
import { persistently } from "../support/ServiceCalls.ts"
import { tapOn } from "../support/StatementTap.ts"

const buyOnce = (cart: GuestCart) => checkOut(cart, {}, { "idempotency-key": `key-${cart.id}` })

const buy = (cart: GuestCart) => buyOnce(cart).pipe(persistently("60 seconds"))

/** What a checkout does when its process freezes, and a part of the statement that does it. */
const moments = [
  ["creates an order", "insert into orders ("],
  ["records a payment", "update orders o set amount_captured"]
] as const

for (const [moment, fragment] of moments) {
  it.live(
    `a process that freezes when it ${moment} delays no checkout for more than ten seconds`,
    () =>
      Effect.gen(function*() {
        const { url } = yield* freshDatabase
        let doomed: Service | undefined
        let frozenAt: number | undefined
        const tap = yield* tapOn(url, (text) => {
          if (doomed === undefined || !text.includes(fragment)) return
          doomed.kill("SIGSTOP")
          doomed = undefined
          frozenAt = performance.now()
        })
        const victim = yield* startService({ databaseUrl: tap.url })
        const other = yield* startService({ databaseUrl: url })
        yield* Effect.gen(function*() {
          const product = yield* aProduct({ stock: 100 })
          const carts = yield* Effect.replicateEffect(aCartWith(product), 12)
          doomed = victim
          // The process that freezes receives half of these checkouts; their buyers ask the other one again.
          const unanswered = yield* Effect.forkChild(
            Effect.forEach(carts.slice(6), buyOnce, { concurrency: "unbounded" }).pipe(
              Effect.provide(talkingTo(victim, url))
            )
          )
          yield* eventually("the process to be frozen", Effect.sync(() => frozenAt !== undefined))
          const answers = yield* Effect.forEach(carts, buy, { concurrency: "unbounded" })
          yield* Fiber.interrupt(unanswered)
          assert.isAtMost(performance.now() - (frozenAt ?? Number.NaN), 10_000)
          assert.deepStrictEqual(answers.map(({ status }) => status), carts.map(() => 201))
          assert.strictEqual(new Set(answers.map((answer) => answer.text("data.id"))).size, carts.length)
        }).pipe(Effect.provide(talkingTo(other, url)))
        yield* audit(url)
      }),
    90_000
  )
}
