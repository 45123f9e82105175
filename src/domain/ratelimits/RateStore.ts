import { type Clock, Deferred, Effect, FiberSet } from "effect"
import { make as makeBatcher } from "../batching/Batcher.ts"
import type { RateCounter } from "./RateCounter.ts"
import { RateLimitRepo, type StoreFailure, type Wanted } from "./RateLimitRepo.ts"

/** How long a request waits for the store, in milliseconds, before its process decides from its own memory. */
const timeoutMs = 250

/** Milliseconds between two looks whether a store that did not answer is back. */
const retryMs = 1_000

/** The shared store as a process sees it: asked in batches, ahead of need, and possibly away. */
export interface RateStore {
  /** The store does not answer: processes decide by themselves. */
  readonly isAway: () => boolean
  /** Asks for a counter's next grant, unless that is under way. Nobody waits for it. */
  readonly ask: (counter: RateCounter, clock: Clock.Clock) => void
  /** Asks whether the store is back, for this counter, when it is time to look again. */
  readonly probe: (counter: RateCounter, clock: Clock.Clock, now: number) => void
  /** Waits for the counter's grant, or until the store counts as away. */
  readonly answerFor: (counter: RateCounter, clock: Clock.Clock) => Effect.Effect<void>
}

/** The store over the repository of the process; its questions live as long as the scope. */
export const makeRateStore = Effect.gen(function*() {
  const repo = yield* RateLimitRepo
  const run = yield* FiberSet.makeRuntime()
  const { submit } = yield* makeBatcher<Wanted, number, StoreFailure>({
    name: "rate-limits",
    maxSize: 500,
    write: repo.add
  })
  let away = false
  let retryAt = 0

  const lose = (clock: Clock.Clock) =>
    Effect.sync(() => {
      away = true
      retryAt = clock.currentTimeMillisUnsafe() + retryMs
    })

  const put = (counter: RateCounter, clock: Clock.Clock): Deferred.Deferred<void> => {
    const { ends, key, limit, wanted } = counter
    const answered = counter.asking = Deferred.makeUnsafe<void>()
    run(
      submit({ key, ends, wanted }).pipe(
        Effect.map((before) => {
          away = false
          counter.grant(wanted, Math.max(0, Math.min(wanted, limit - before)), before + wanted)
        }),
        Effect.catchCause(() => lose(clock)),
        Effect.ensuring(Effect.sync(() => {
          counter.asking = undefined
          Deferred.doneUnsafe(answered, Effect.void)
        }))
      )
    )
    return answered
  }

  const store: RateStore = {
    isAway: () => away,
    ask: (counter, clock) => {
      if (counter.asking === undefined) put(counter, clock)
    },
    probe: (counter, clock, now) => {
      if (now < retryAt || counter.asking !== undefined) return
      retryAt = now + retryMs
      put(counter, clock)
    },
    answerFor: (counter, clock) =>
      Effect.suspend(() => {
        counter.waiting++
        return Deferred.await(counter.asking ?? put(counter, clock)).pipe(
          Effect.timeoutOrElse({ duration: timeoutMs, orElse: () => lose(clock) }),
          Effect.ensuring(Effect.sync(() => counter.waiting--))
        )
      })
  }
  return store
})
