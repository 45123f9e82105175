import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { moneyUnderKills } from "../support/RefundKills.ts"

const kills = Number(process.env["STOA_CHAOS_KILLS"] ?? 25)

/** Time is real: an abandoned refund waits for its minute and the scheduled job. */
it.live(`${kills} kills amid captures, refunds and returns move no money twice and lose none`, () =>
  Effect.gen(function*() {
    const begun = performance.now()
    const { orders, refunds } = yield* moneyUnderKills(kills, kills, () => Effect.void, 180_000)
    const seconds = ((performance.now() - begun) / 1_000).toFixed(0)
    console.log(`${kills} kills in ${seconds} s: ${orders} orders, ${refunds} refunds`)
    assert.strictEqual(refunds, kills * 14)
  }))
