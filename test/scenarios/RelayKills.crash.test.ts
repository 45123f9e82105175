import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { relayUnderKills } from "../support/RelayKills.ts"

it.live(
  "a relay that is killed in the middle of a batch leaves no gap and tells nothing twice",
  () =>
    Effect.gen(function*() {
      const { by, recorded } = yield* relayUnderKills(2)
      assert.isAtLeast(recorded, 20)
      assert.strictEqual(by, 2, "processes that relayed")
    })
)
