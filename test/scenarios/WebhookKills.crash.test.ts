import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { deliverUnderKills } from "../support/WebhookKills.ts"

it.live(
  "events reach a receiver in the order of their records though it is killed, and so is a runner",
  () =>
    Effect.gen(function*() {
      const { events, kills } = yield* deliverUnderKills({ shops: 2, changes: 4, most: 2 })
      assert.isAtLeast(events, 25)
      assert.deepStrictEqual(kills, { receiver: 1, runner: 1 })
    })
)
