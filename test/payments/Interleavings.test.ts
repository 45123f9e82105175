import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { audit } from "../support/Audit.ts"
import { live, TestApp } from "../support/TestApp.ts"
import { anOffer, assertEndsWell, interleavedStore } from "./InterleavedCheckout.ts"
import { type Happening, sequencesOf } from "./Sequences.ts"

/** Longer ones that add something; `npm run chaos` goes through all of them. */
const chosen: ReadonlyArray<ReadonlyArray<Happening>> = [
  ["place", "confirm", "cancel", "success", "duplicate"],
  ["place", "failure", "confirm", "success", "kill"],
  ["place", "time-out", "success", "duplicate", "cancel"],
  ["confirm", "kill", "place", "success", "failure"],
  ["success", "place", "kill", "time-out", "duplicate"],
  ["place", "kill", "success", "cancel", "failure"],
  ["confirm", "expiry", "place", "success", "duplicate"]
]

/** Where the provider takes the money of a checkout that was refused, which only one that takes it by itself does. */
const taken: ReadonlyArray<ReadonlyArray<Happening>> = [["expiry", "place", "success", "duplicate"]]

layer(interleavedStore, live)(
  "a checkout that waits for its shopper, for any order of events",
  (it) => {
    it.effect(
      "ends a checkout paid once and sold once, or cancelled with everything given back",
      () =>
        Effect.gen(function*() {
          const offer = yield* anOffer
          // Every other pair, with the provider that is asked for the money; `npm run chaos` goes through all of them, both ways.
          const pairs = sequencesOf(2).filter((_, n) => n % 2 === 0)
          for (const taking of ["when asked", "by itself"] as const) {
            const sequences = [
              ...[0, 1].flatMap(sequencesOf),
              ...(taking === "when asked" ? [...pairs, ...chosen] : taken)
            ]
            yield* Effect.forEach(sequences, (sequence) => assertEndsWell(sequence, taking, offer), { concurrency: 8 })
          }
          yield* audit((yield* TestApp).databaseUrl)
        })
    )
  }
)
