import { assert, layer } from "@effect/vitest"
import { Cause, Effect } from "effect"
import { assertAnswersAgree, repeatingStore } from "../checkout/RepeatedRuns.ts"
import { roundsByStops } from "../checkout/RepeatRounds.ts"
import { aProduct } from "../support/Purchase.ts"

/** Which part of all rounds: `1/4` is the first of four. */
const [part = 1, parts = 1] = (process.env["STOA_CHAOS_ORDERS"] ?? "1/1").split("/").map(Number)

const rounds = roundsByStops.flat().filter((_, n) => n % parts === part - 1)

layer(repeatingStore, { excludeTestServices: true, timeout: "60 seconds" })("repeated checkouts", (it) => {
  it.effect(`are answered as they end, in all of ${rounds.length} rounds`, () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ stock: 1_000_000 })
      const failures: Array<string> = []
      const collect = (cause: Cause.Cause<never>) => Effect.sync(() => void failures.push(String(Cause.squash(cause))))
      yield* Effect.forEach(
        rounds,
        (round) => Effect.catchCause(assertAnswersAgree(entityId, round), collect),
        { concurrency: 8, discard: true }
      )
      assert.deepStrictEqual([failures.length, failures.join("\n")], [0, ""])
    }))
})
