import { it } from "@effect/vitest"
import { buyBesideFrozen, frozenMoments } from "../support/FrozenCheckout.ts"

for (const [moment, fragment] of frozenMoments) {
  it.live(
    `checkouts end in another process while the process that ${moment} stays frozen`,
    () => buyBesideFrozen(fragment)
  )
}
