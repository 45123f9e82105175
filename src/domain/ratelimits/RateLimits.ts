import { type Clock, Context, Effect, Layer } from "effect"
import { type RateCounter, RateCounters } from "./RateCounter.ts"
import { type RateLimit, type Standing, tighter, windowEnd } from "./RateLimit.ts"
import { makeRateStore } from "./RateStore.ts"

/** Counters that a process keeps at most; one takes about 200 bytes. */
const capacity = 100_000

/** At least one. */
type Limits = readonly [RateLimit, ...ReadonlyArray<RateLimit>]

/**
 * Limits of requests that all processes of a deployment share (contract, platform §1.5; docs/adr/0014). Each process
 * admits from grants in its memory and asks the shared store for more ahead of need, all keys in one statement. While
 * the store does not answer, every process goes on counting by itself.
 */
export class RateLimits extends Context.Service<RateLimits, {
  /** Counts a request against these limits, one after the other, until one refuses it; gives the tightest. */
  readonly admit: (...limits: Limits) => Effect.Effect<Standing>
  /** How a caller stands with a limit, without counting. */
  readonly standing: (limit: RateLimit) => Effect.Effect<Standing>
}>()("stoa/domain/ratelimits/RateLimits") {
  static readonly layer = Layer.effect(RateLimits, Effect.suspend(() => makeRateLimits(capacity)))
}

/** A limit that is switched off leaves everybody all of it. */
const untouched = ({ bucket, limit, subject, windowMs }: RateLimit, now: number): Standing => {
  const resetsAt = windowEnd(`${bucket}:${subject}`, windowMs, now)
  return { admitted: true, limit, remaining: limit, resetsAt, resetsInMs: resetsAt - now }
}

/** The service with room for so many counters. */
export const makeRateLimits = Effect.fnUntraced(function*(room: number) {
  const counters = new RateCounters(room)
  const store = yield* makeRateStore

  /** Whether this process may admit one more; undefined where only the store can tell. */
  const take = (counter: RateCounter, clock: Clock.Clock, now: number): boolean | undefined => {
    if (counter.used < counter.granted) {
      counter.used++
      if (counter.runsLow && !store.isAway()) store.ask(counter, clock)
      return true
    }
    if (counter.exhausted || counter.granted >= counter.limit) return false
    if (!store.isAway()) return undefined
    store.probe(counter, clock, now)
    if (counter.used >= counter.limit) return false
    counter.used++
    return true
  }

  const admitFrom = (
    limits: Limits,
    from: number,
    tightest: Standing | undefined,
    clock: Clock.Clock
  ): Effect.Effect<Standing> => {
    const now = clock.currentTimeMillisUnsafe()
    let found = tightest
    for (let index = from; index < limits.length && found?.admitted !== false; index++) {
      const limit = limits[index] ?? limits[0]
      if (!limit.enforced) {
        found = tighter(found, untouched(limit, now))
        continue
      }
      const counter = counters.of(limit, now)
      const admitted = take(counter, clock, now)
      if (admitted === undefined) {
        return Effect.flatMap(store.answerFor(counter, clock), () => admitFrom(limits, index, found, clock))
      }
      found = tighter(found, counter.standing(admitted, now))
    }
    return Effect.succeed(found ?? untouched(limits[0], now))
  }

  return RateLimits.of({
    admit: (...limits) => Effect.clockWith((clock) => admitFrom(limits, 0, undefined, clock)),
    standing: (limit) =>
      Effect.clockWith((clock) => {
        const now = clock.currentTimeMillisUnsafe()
        return Effect.succeed(limit.enforced ? counters.of(limit, now).standing(true, now) : untouched(limit, now))
      })
  })
})
