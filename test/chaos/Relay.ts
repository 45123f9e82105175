import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { relayUnderKills } from "../support/RelayKills.ts"

const kills = Number(process.env["STOA_CHAOS_KILLS"] ?? 12)

it.live(`${kills} kills of the relay in the middle of a batch leave no gap and tell nothing twice`, () =>
  Effect.gen(function*() {
    const { by, entries, seconds, told } = yield* relayUnderKills(kills)
    console.log(`${kills} kills in ${seconds.toFixed(0)} s: ${entries} entries, ${told} events told by ${by} places`)
    assert.isAtLeast(told, 100)
    assert.strictEqual(by, 2)
  }))
