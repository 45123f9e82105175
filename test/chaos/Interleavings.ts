import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { anOffer, assertEndsWell, interleavedStore } from "../payments/InterleavedCheckout.ts"
import { happenings, sequencesOf } from "../payments/Sequences.ts"
import { audit } from "../support/Audit.ts"
import { live, TestApp } from "../support/TestApp.ts"

/** So many of these, drawn without repetition; the same ones for the same seed (mulberry32). */
export const drawn = <A>(from: ReadonlyArray<A>, count: number, seed: number): ReadonlyArray<A> => {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296
  }
  return from.map((one) => ({ one, place: next() })).sort((one, other) => one.place - other.place).slice(0, count).map(
    ({ one }) => one
  )
}

/** Most happenings of a sequence, and which part of all sequences: `1/4` is the first of four. */
const most = Number(process.env["STOA_CHAOS_HAPPENINGS"] ?? happenings.length)
const [part = 1, parts = 1] = (process.env["STOA_CHAOS_ORDERS"] ?? "1/1").split("/").map(Number)

/** Size of a random sample, with a random seed unless one is set: all, both ways, take an hour on one core. */
const sample = Number(process.env["STOA_CHAOS_SAMPLE"] ?? 0)
const seed = Number(process.env["STOA_CHAOS_SEED"] ?? Date.now() % 1_000_000)

const all = Array.from({ length: most + 1 }, (_, size) => sequencesOf(size)).flat()
const ofPart = all.filter((_, n) => n % parts === part - 1)
const sequences = sample === 0 ? ofPart : drawn(ofPart, sample, seed)
const named = sample === 0 ? "" : `, seed ${seed}`

layer(interleavedStore, live)(
  "every order of what may happen",
  (it) => {
    for (const taking of ["when asked", "by itself"] as const) {
      it.effect(
        `${sequences.length} of ${all.length} sequences${named}, money taken ${taking}, end well`,
        () =>
          Effect.gen(function*() {
            const offer = yield* anOffer
            yield* Effect.forEach(sequences, (sequence) => assertEndsWell(sequence, taking, offer), { concurrency: 8 })
            yield* audit((yield* TestApp).databaseUrl)
          }),
        3_600_000
      )
    }
  }
)
