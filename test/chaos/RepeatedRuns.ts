import { assert, layer } from "@effect/vitest"
import { Cause, Effect } from "effect"
import { assertAnswersAgree, keepingStore, repeatingStore } from "../checkout/RepeatedRuns.ts"
import { type Round, roundsByStops } from "../checkout/RepeatRounds.ts"
import { aProduct } from "../support/Purchase.ts"

/** Which part of all rounds: `1/4` is the first of four. */
const [part = 1, parts = 1] = (process.env["STOA_CHAOS_ORDERS"] ?? "1/1").split("/").map(Number)

const rounds = roundsByStops.flat().filter((_, n) => n % parts === part - 1)

const goThrough = Effect.fnUntraced(function*(chosen: ReadonlyArray<Round>) {
  const entityId = yield* aProduct({ stock: 1_000_000 })
  const failures: Array<string> = []
  const collect = (cause: Cause.Cause<never>) => Effect.sync(() => void failures.push(String(Cause.squash(cause))))
  yield* Effect.forEach(chosen, (round) => Effect.catchCause(assertAnswersAgree(entityId, round), collect), {
    concurrency: 8,
    discard: true
  })
  assert.deepStrictEqual([failures.length, failures.join("\n")], [0, ""])
})

const stores = [
  [repeatingStore, "repeated checkouts", rounds.filter(({ card }) => card !== "kept")],
  [keepingStore, "repeated checkouts whose payments staff captures", rounds.filter(({ card }) => card === "kept")]
] as const

for (const [store, name, chosen] of stores) {
  layer(store, { excludeTestServices: true, timeout: "60 seconds" })(name, (it) => {
    it.effect(`are answered as they end, in all of ${chosen.length} rounds`, () => goThrough(chosen))
  })
}
