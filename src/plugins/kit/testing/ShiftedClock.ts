import { Clock, Context, Duration, Effect, Layer } from "effect"

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

/** Shorter sleeps are not woken: most wait for an answer of something real, such as the database. */
const shortestWokenMs = 30_000

/** The limit of jobs under test: the longest sleep, which is not woken either. */
export const neverWokenMs = 2_147_483_647

/**
 * A clock that runs like the real one and can be put forward, which wakes fibers that sleep for long. The service under test has
 * connections and timers, which a stopped clock would hang. The database's `now()` is not put forward: what a plugin decides by
 * it is tested with rows that are old.
 */
export class TestTime extends Context.Service<TestTime, {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Puts the clock forward. */
  readonly advance: (by: Duration.Input) => void
}>()("stoa/plugins/kit/testing/TestTime") {}

const make = () => {
  let ahead = 0
  const sleepers = new Set<Sleeper>()
  const now = () => Date.now() + ahead
  const sleep = (duration: Duration.Duration) =>
    Effect.callback<void>((resume) => {
      const ms = Duration.toMillis(duration)
      const wake = () => {
        clearTimeout(timer)
        sleepers.delete(sleeper)
        resume(Effect.void)
      }
      const sleeper: Sleeper = { until: now() + ms, wake }
      if (ms >= shortestWokenMs && ms < neverWokenMs) sleepers.add(sleeper)
      const timer = setTimeout(wake, Math.min(ms, neverWokenMs))
      return Effect.sync(() => {
        clearTimeout(timer)
        sleepers.delete(sleeper)
      })
    })
  const nanos = () => BigInt(now()) * 1_000_000n
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep
  }
  const time = {
    now,
    advance: (by: Duration.Input) => {
      ahead += Duration.toMillis(by)
      for (const sleeper of sleepers) if (sleeper.until <= now()) sleeper.wake()
    }
  }
  return { clock, time }
}

/** The clock of the service, and the hand that moves it. */
export const shiftedClock = Layer.unwrap(Effect.sync(() => {
  const { clock, time } = make()
  return Layer.merge(Layer.succeed(Clock.Clock, clock), Layer.succeed(TestTime, time))
}))
