import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { chanceOf } from "../pricing-properties/Chance.ts"
import { audit } from "../support/Audit.ts"
import { aProduct } from "../support/Purchase.ts"
import { TestApp } from "../support/TestApp.ts"
import { aRound, assertEndsWell, type FrozenRound, frozenStore } from "./FrozenRuns.ts"

const pays = ["pays", "pays", "pays"] as const

/** What a run could decide that woke up too late, if the token of its run did not stop it. */
const decisions: ReadonlyArray<readonly [what: string, round: FrozenRound]> = [
  ["create the order", { frozenAt: "authorized", otherAt: "reserved", provider: pays }],
  ["record the payment", { frozenAt: "captured", otherAt: "captured", provider: pays }],
  ["give the stock back", { frozenAt: "reserved", otherAt: "reserved", provider: ["pays", "pays", "declines"] }],
  ["cancel the order", { frozenAt: "created", otherAt: "captured", provider: ["pays", "pays", "refuses to capture"] }]
]

layer(frozenStore, { excludeTestServices: true, timeout: "60 seconds" })(
  "a run of a checkout that was frozen",
  (it) => {
    it.effect.each(decisions)(
      "does not %s beside the run that took over from it",
      ([_, round]) =>
        Effect.gen(function*() {
          const lost = yield* assertEndsWell(yield* aProduct({ stock: 10 }), round)
          assert.isTrue(lost)
        })
    )

    it.effect(
      "changes nothing, at any boundary and any answer of the provider",
      () =>
        Effect.gen(function*() {
          const entityId = yield* aProduct({ stock: 1_000_000 })
          const chance = chanceOf(20)
          const lost = yield* Effect.forEach(
            Array.from({ length: 48 }, () => aRound(chance)),
            (round) => assertEndsWell(entityId, round),
            { concurrency: 4 }
          )
          assert.isAbove(lost.filter(Boolean).length, 12)
          yield* audit((yield* TestApp).databaseUrl)
        }),
      120_000
    )
  }
)
