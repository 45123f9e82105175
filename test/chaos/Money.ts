import { it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { seedOfRun } from "../pricing-properties/Chance.ts"
import { countedPayments } from "../pricing-properties/CountedPayments.ts"
import { deploymentOf, tradeOverHttp } from "../pricing-properties/OpenShops.ts"
import { checkPrices } from "../pricing-properties/PriceChecks.ts"
import { live, testAppLayer } from "../support/TestApp.ts"

const carts = Number(process.env["STOA_CHAOS_CARTS"] ?? 1_000_000)
/** Of each of four shops, over HTTP. */
const purchases = Number(process.env["STOA_CHAOS_PURCHASES"] ?? 500)

const seed = seedOfRun()
const payments = countedPayments()

const timed = Effect.fnUntraced(function*<A, R>(run: Effect.Effect<A, never, R>) {
  const started = performance.now()
  const seen = yield* run
  console.log(`seed ${seed}, ${Math.round((performance.now() - started) / 1_000)} s: ${JSON.stringify(seen)}`)
})

it.live(
  `${carts} generated carts cost what the contract says, to the unit, and come back to the unit`,
  () => timed(checkPrices(seed, carts))
)

layer(testAppLayer(deploymentOf(payments)), live)("over HTTP", (it) => {
  it.effect(
    `so do cart, quote, checkout, order, payment and refunds of ${4 * purchases} carts`,
    () => timed(tradeOverHttp(seed, payments, purchases, 2))
  )
})
