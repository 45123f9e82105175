import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { aRound, assertEndsWell, frozenStore } from "../checkout/FrozenRuns.ts"
import { chanceOf, seedOfRun } from "../pricing-properties/Chance.ts"
import { audit } from "../support/Audit.ts"
import { aProduct } from "../support/Purchase.ts"
import { live, TestApp } from "../support/TestApp.ts"

const rounds = Number(process.env["STOA_CHAOS_ROUNDS"] ?? 1_000)

layer(frozenStore, live)("runs of checkouts that freeze", (it) => {
  it.effect(`leave every order with one payment and every failure with none, in ${rounds} rounds`, () =>
    Effect.gen(function*() {
      const seed = seedOfRun()
      const chance = chanceOf(seed)
      const entityId = yield* aProduct({ stock: 1_000_000 })
      const lost = yield* Effect.forEach(
        Array.from({ length: rounds }, () => aRound(chance)),
        (round) => assertEndsWell(entityId, round),
        { concurrency: 8 }
      )
      yield* audit((yield* TestApp).databaseUrl)
      console.log(`seed ${seed}: ${lost.filter(Boolean).length} of ${rounds} runs had lost their checkout`)
    }))
})
