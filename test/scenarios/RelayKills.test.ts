import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { relayUnderKills } from "../support/RelayKills.ts"

it.live(
  "a relay that is killed in the middle of a batch leaves no gap and tells nothing twice",
  () => Effect.map(relayUnderKills(2), ({ told }) => assert.isAtLeast(told, 20)),
  60_000
)
