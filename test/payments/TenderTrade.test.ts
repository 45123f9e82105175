import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { seedOfRun } from "../pricing-properties/Chance.ts"
import { countingStore, tradeWithTenders } from "./TenderTrade.ts"

layer(countingStore, { excludeTestServices: true, timeout: "60 seconds" })(
  "purchases with one to four payments",
  (it) => {
    it.effect("keep every unit of money, refunds included", () =>
      Effect.gen(function*() {
        const seed = seedOfRun()
        const seen = yield* tradeWithTenders(seed, 40)
        console.log(`seed ${seed}: ${JSON.stringify(seen)}`)
        assert.isAbove(Math.min(seen.shared, seen.refunded), 5)
      }))
  }
)
