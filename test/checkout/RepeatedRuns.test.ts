import { assert, layer } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { audit } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { aProduct } from "../support/Purchase.ts"
import { TestApp } from "../support/TestApp.ts"
import {
  aShopper,
  assertAnswersAgree,
  assertEndsHonest,
  endOfEngine,
  gateAt,
  keepingStore,
  repeatingStore,
  stoppedAt,
  takeOver
} from "./RepeatedRuns.ts"
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
            chosen.filter(({ card }) => card !== "asks" && card !== "kept")
          ]
          yield* Effect.forEach(ended, (round) => assertAnswersAgree(entityId, round), { concurrency: 8 })
          yield* audit((yield* TestApp).databaseUrl)
          yield* Effect.forEach(waiting, (round) => assertAnswersAgree(entityId, round), { concurrency: 8 })
        }),
      240_000
    )

    it.effect("ends when the run that takes over dies after what it started has ended", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const shopper = yield* aShopper(yield* aProduct({ stock: 10 }), "declined")
        const first = yield* stoppedAt(shopper, "undone")
        const engine = yield* gateAt(shopper.name, "engine", "failed")
        const taken = (yield* takeOver(shopper)) ?? assert.fail("nothing to take over")
        yield* Deferred.await(engine.reached)
        yield* eventually(
          "the payment to be voided",
          Effect.map(
            Effect.orDie(
              sql`select 1 from cluster_messages where entity_type = 'Workflow/VoidPayment' and tag = 'run' and processed
              and payload::text like ${`%${taken.checkoutId}%`}`
            ),
            (voided) => voided.length > 0
          )
        )
        yield* Deferred.die(engine.opened, new Error("died"))
        yield* endOfEngine(taken)
        yield* first.wake
        yield* assertEndsHonest("declined", shopper, [])
      }))
  }
)

layer(keepingStore, { excludeTestServices: true, timeout: "60 seconds" })(
  "the same where staff captures payments",
  (it) => {
    it.effect("is answered by its order, which keeps its authorization", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct({ stock: 1_000_000 })
        const kept = chosen.filter(({ card }) => card === "kept")
        yield* Effect.forEach(kept, (round) => assertAnswersAgree(entityId, round), { concurrency: 8 })
      }), 240_000)
  }
)
