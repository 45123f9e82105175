import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { deliverUnderKills } from "../support/WebhookKills.ts"

const shops = Number(process.env["STOA_CHAOS_SHOPS"] ?? 12)

it.live("events reach a receiver in the order of their records while it and the runners are killed in turn", () =>
  Effect.gen(function*() {
    const begun = performance.now()
    const { events, kills, records, repeated } = yield* deliverUnderKills({ shops, changes: 11 })
    const seconds = (performance.now() - begun) / 1_000
    console.log(
      `${events} events of ${records} records, ${kills.receiver} kills of the receiver and ${kills.runner} of runners ` +
        `in ${seconds.toFixed(0)} s: none lost, ${repeated} came again`
    )
    assert.isAtLeast(events, 300)
    assert.isAtLeast(kills.receiver + kills.runner, 8)
  }))
