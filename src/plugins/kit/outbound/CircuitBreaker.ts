import { Cause, Clock, Effect, Exit, Option } from "effect"

/** When a service that fails is left alone. */
export interface BreakerOptions {
  /** Failures one after the other after which it is. */
  readonly failures: number
  /** Milliseconds until one call tries it again. */
  readonly pauseMs: number
}

/**
 * Leaves a service alone that fails, in this process: its callers would wait for nothing, and it would have no quiet to
 * recover. `paused` is what a call fails with then; it gets the milliseconds until the next try.
 */
export const circuitBreaker = <E>({ failures, pauseMs }: BreakerOptions, paused: (retryAfterMs: number) => E) => {
  let failed = 0
  let pausedUntil = 0
  let isTrying = false

  const settle = <F>(exit: Exit.Exit<unknown, F>, isFault: (error: F) => boolean, now: number) => {
    isTrying = false
    if (Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)) return
    const error = Exit.findErrorOption(exit)
    failed = Option.isSome(error) && isFault(error.value) ? failed + 1 : 0
    if (failed >= failures) pausedUntil = now + pauseMs
  }

  /** Runs a call, or fails at once. `isFault` says whether a failure is the service's. */
  return <A, F, R>(call: Effect.Effect<A, F, R>, isFault: (error: F) => boolean): Effect.Effect<A, E | F, R> =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      if (failed >= failures) {
        if (now < pausedUntil || isTrying) return yield* Effect.fail(paused(Math.max(1, pausedUntil - now)))
        isTrying = true
      }
      return yield* Effect.onExit(
        call,
        (exit) => Effect.map(Clock.currentTimeMillis, (then) => settle(exit, isFault, then))
      )
    })
}
