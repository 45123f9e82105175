import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { audit } from "./Audit.ts"
import { eventually } from "./Eventually.ts"
import { freshDatabase } from "./Postgres.ts"
import { aCartWith, aProduct, checkOut, type GuestCart } from "./Purchase.ts"
import { type Service, startService, talkingTo } from "./Service.ts"
import { persistently } from "./ServiceCalls.ts"
import { tapOn } from "./StatementTap.ts"

const buyOnce = (cart: GuestCart) => checkOut(cart, {}, { "idempotency-key": `key-${cart.id}` })

/** What a checkout does when its process freezes, and a part of the statement that does it. */
export const frozenMoments = [
  ["creates an order", "insert into orders ("],
  ["records a payment", "update orders o set amount_captured"]
] as const

/** Freezes one of two processes at a statement of a checkout, and lets all shoppers buy at the other one meanwhile. */
export const buyBesideFrozen = Effect.fnUntraced(
  function*(fragment: string, on: (moment: "frozen" | "answered") => void = () => undefined) {
    const { url } = yield* freshDatabase
    let doomed: Service | undefined
    let isFrozen = false
    const tap = yield* tapOn(url, (text) => {
      if (doomed === undefined || !text.includes(fragment)) return
      doomed.kill("SIGSTOP")
      doomed = undefined
      isFrozen = true
      on("frozen")
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
      yield* eventually("the process to be frozen", Effect.sync(() => isFrozen))
      const answers = yield* Effect.forEach(carts, (cart) => persistently(buyOnce(cart)), { concurrency: "unbounded" })
      on("answered")
      yield* Fiber.interrupt(unanswered)
      assert.deepStrictEqual(answers.map(({ status }) => status), carts.map(() => 201))
      assert.strictEqual(new Set(answers.map((answer) => answer.text("data.id"))).size, carts.length)
    }).pipe(Effect.provide(talkingTo(other, url)))
    yield* audit(url)
  }
)
