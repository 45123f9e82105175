import { Clock, Effect, Fiber, FiberSet, Layer } from "effect"
import { make as makeBatcher } from "../../domain/platform/batching/Batcher.ts"
import {
  type RateLimit,
  RateLimits,
  type Standing,
  tighter,
  windowEnd
} from "../../domain/platform/ratelimits/RateLimits.ts"
import { type Increment, RateLimitRepo } from "./RateLimitRepo.ts"

/** About 200 bytes each. */
const maxCounters = 100_000

/** Unreported share of a limit: ten processes exceed it by 20 %. */
const unreportedShare = 1 / 50

/** After so many milliseconds a process decides without the database. */
const timeoutMs = 250

const retryMs = 1_000

interface Counter {
  readonly key: string
  readonly limit: number
  readonly ends: number
  reported: number
  unreported: number
  sending: number
}

const left = ({ limit, reported, sending, unreported }: Counter): number => limit - reported - sending - unreported

const standingOf = (counter: Counter, admitted: boolean, now: number): Standing => ({
  admitted,
  limit: counter.limit,
  remaining: admitted ? Math.max(0, left(counter)) : 0,
  resetsAt: counter.ends,
  resetsInMs: counter.ends - now
})

const makeCounters = (capacity: number) => {
  const counters = new Map<string, Counter>()
  return ({ bucket, limit, subject, windowMs }: RateLimit, now: number): Counter => {
    const key = `${bucket}:${subject}`
    const current = counters.get(key)
    if (current !== undefined && now < current.ends && current.limit === limit) return current
    counters.delete(key)
    for (const [oldest, { ends }] of counters) {
      if (now < ends && counters.size < capacity) break
      counters.delete(oldest)
    }
    const ends = windowEnd(key, windowMs, now)
    const counter = { key, limit, ends, reported: 0, unreported: 0, sending: 0 }
    counters.set(key, counter)
    return counter
  }
}

/**
 * Small limits ask the shared counter at each request, concurrent ones in one statement; large limits report in the
 * background. Without the database each process counts alone.
 */
export const makeRateLimits = Effect.fnUntraced(function*(capacity: number) {
  const repo = yield* RateLimitRepo
  const run = yield* FiberSet.makeRuntime()
  const counterOf = makeCounters(capacity)
  const { submit } = yield* makeBatcher<Increment, number, Effect.Error<ReturnType<typeof repo.add>>>({
    name: "rate-limits",
    maxSize: 500,
    write: repo.add
  })
  let isAway = false
  let retryAt = 0

  const report = (counter: Counter, extra: 0 | 1) =>
    Effect.suspend(() => {
      const count = counter.unreported + extra
      counter.unreported = 0
      counter.sending += count
      return submit({ key: counter.key, ends: counter.ends, count }).pipe(
        Effect.map((sum) => {
          isAway = false
          counter.reported = Math.max(counter.reported, sum)
          return sum
        }),
        Effect.onError(() => Effect.sync(() => counter.unreported += count)),
        Effect.ensuring(Effect.sync(() => counter.sending -= count))
      )
    })

  const decideAlone = Effect.map(Clock.currentTimeMillis, (now) => {
    isAway = true
    retryAt = now + retryMs
  })

  /** Undefined where only the database can decide. */
  const admitAtOnce = (counter: Counter, now: number): boolean | undefined => {
    const allowed = counter.limit * unreportedShare
    const hasLeft = left(counter) > 0
    if (hasLeft && !isAway && counter.unreported + counter.sending + 1 > allowed) return undefined
    if (hasLeft) counter.unreported++
    if (counter.unreported > 0 && (isAway ? now >= retryAt : counter.unreported * 2 >= allowed)) {
      retryAt = now + retryMs
      run(Effect.catchCause(report(counter, 0), () => decideAlone))
    }
    return hasLeft
  }

  /** The report goes on after the time-out: its request must not be counted twice. */
  const admitByReport = (counter: Counter): Effect.Effect<boolean> =>
    Effect.suspend(() => Fiber.join(run(report(counter, 1)))).pipe(
      Effect.map((sum) => sum <= counter.limit),
      Effect.timeout(timeoutMs),
      Effect.catchCause(() => Effect.map(decideAlone, () => left(counter) >= 0))
    )

  const admitOne = Effect.fnUntraced(function*(limit: RateLimit) {
    const now = yield* Clock.currentTimeMillis
    if (!limit.enforced) return untouched(limit, now)
    const counter = counterOf(limit, now)
    return standingOf(counter, admitAtOnce(counter, now) ?? (yield* admitByReport(counter)), now)
  })

  return RateLimits.of({
    admit: Effect.fnUntraced(function*(first, ...others) {
      let tightest = yield* admitOne(first)
      for (const limit of others) {
        if (!tightest.admitted) break
        tightest = tighter(tightest, yield* admitOne(limit))
      }
      return tightest
    }),
    standing: (limit) =>
      Effect.map(
        Clock.currentTimeMillis,
        (now) => limit.enforced ? standingOf(counterOf(limit, now), true, now) : untouched(limit, now)
      )
  })
})

const untouched = ({ bucket, limit, subject, windowMs }: RateLimit, now: number): Standing => {
  const resetsAt = windowEnd(`${bucket}:${subject}`, windowMs, now)
  return { admitted: true, limit, remaining: limit, resetsAt, resetsInMs: resetsAt - now }
}

export const rateLimiterLayer = Layer.effect(RateLimits, makeRateLimits(maxCounters))
