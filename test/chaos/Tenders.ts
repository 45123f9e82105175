import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { countingStore, tradeWithTenders } from "../payments/TenderTrade.ts"
import { seedOfRun } from "../pricing-properties/Chance.ts"

const purchases = Number(process.env["STOA_CHAOS_PURCHASES"] ?? 100_000)

layer(countingStore, { excludeTestServices: true, timeout: "60 seconds" })("payments that share orders", (it) => {
  it.effect(`keep every unit of money of ${purchases} purchases, refunds included`, () =>
    Effect.gen(function*() {
      const seed = seedOfRun()
      const started = performance.now()
      const seen = yield* tradeWithTenders(seed, purchases)
      console.log(`seed ${seed}, ${Math.round((performance.now() - started) / 1_000)} s: ${JSON.stringify(seen)}`)
    }))
})
