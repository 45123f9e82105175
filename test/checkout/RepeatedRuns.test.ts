import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { audit } from "../support/Audit.ts"
import { aProduct } from "../support/Purchase.ts"
import { TestApp } from "../support/TestApp.ts"
import { assertAnswersAgree, repeatingStore } from "./RepeatedRuns.ts"
import { roundsByStops } from "./RepeatRounds.ts"

/** One round for each pair of places, all fates in turn; `npm run chaos` goes through every round. */
const chosen = roundsByStops.flatMap((rounds, nth) => rounds.slice((nth * 7) % rounds.length).slice(0, 1))

layer(repeatingStore, { excludeTestServices: true, timeout: "60 seconds" })(
  "a checkout that is repeated while its run dies, freezes or is taken over",
  (it) => {
    it.effect(
      "is answered as it ends: success for an order that stays, a refusal where nothing is left",
      () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct({ stock: 1_000_000 })
          const [waiting, ended] = [
            chosen.filter(({ card }) => card === "asks"),
            chosen.filter(({ card }) => card !== "asks")
          ]
          yield* Effect.forEach(ended, (round) => assertAnswersAgree(entityId, round), { concurrency: 8 })
          yield* audit((yield* TestApp).databaseUrl)
          yield* Effect.forEach(waiting, (round) => assertAnswersAgree(entityId, round), { concurrency: 8 })
        }),
      240_000
    )
  }
)
