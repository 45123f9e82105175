import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { live, testAppLayer } from "../support/TestApp.ts"
import { seedOfRun } from "./Chance.ts"
import { countedPayments } from "./CountedPayments.ts"
import { deploymentOf, tradeOverHttp } from "./OpenShops.ts"
import { checkPrices } from "./PriceChecks.ts"

const seed = seedOfRun()
const payments = countedPayments()

const withShops = layer(testAppLayer(deploymentOf(payments)), live)

it.live("generated carts are decided as the contract says, to the unit, and come back to the unit", () =>
  Effect.gen(function*() {
    const seen = yield* checkPrices(seed, 1_000)
    console.log(`seed ${seed}: ${JSON.stringify(seen)}`)
    // A run that compared nothing would pass too.
    assert.isAbove(
      Math.min(
        seen.discounted,
        seen.taxed,
        seen.taxIncluded,
        seen.exempt,
        seen.storedValue,
        seen.alreadyTaxed,
        seen.shipped,
        seen.refunds,
        seen.stepped
      ),
      50
    )
    assert.isBelow(seen.unserved, 450)
  }))

withShops("generated carts", (it) => {
  it.effect("cost over HTTP what they should: cart, quote, checkout, order, payment and refunds at once", () =>
    Effect.gen(function*() {
      const seen = yield* tradeOverHttp(seed, payments, 4, 3)
      console.log(`seed ${seed}: ${JSON.stringify(seen)}`)
      assert.isAbove(seen.orders, 6)
      assert.isAbove(seen.givenBack, 1)
    }))
})
