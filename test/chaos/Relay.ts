import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { relayUnderKills } from "../support/RelayKills.ts"

const kills = Number(process.env["STOA_CHAOS_KILLS"] ?? 12)

it.live(`${kills} kills of the relay in the middle of a batch leave no gap and emit nothing twice`, () =>
  Effect.gen(function*() {
    const begun = performance.now()
    const { by, entries, recorded } = yield* relayUnderKills(kills)
    const seconds = (performance.now() - begun) / 1_000
    console.log(
      `${kills} kills in ${seconds.toFixed(0)} s: ${entries} entries, ${recorded} events emitted by ${by} processes`
    )
    assert.isAtLeast(recorded, 100)
    assert.strictEqual(by, 2)
  }))
