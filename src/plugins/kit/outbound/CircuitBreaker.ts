import { Cause, Clock, Effect, Exit, Option } from "effect"

/** When a service that fails is left alone. */
export interface BreakerOptions {
  /** Failures one after the other after which it is. */
  readonly failures: number
  /** Milliseconds until one call tries it again. */
  readonly pauseMs: number
}

interface Failing {
  failed: number
  pausedUntil: number
  isTrying: boolean
}

/** Failing services that are counted at most: URLs may come from people. The oldest is dropped first. */
const mostServices = 1_000

/**
 * Leaves services alone that fail, in this process: callers would wait for nothing, and the service would have no quiet to
 * recover. Each `service` is counted separately. `paused` is the error of a call meanwhile; it gets the milliseconds until
 * the next try.
 */
export const circuitBreaker = <E>({ failures, pauseMs }: BreakerOptions, paused: (retryAfterMs: number) => E) => {
  const failing = new Map<string, Failing>()

  const count = (service: string, now: number) => {
    const state = failing.get(service) ?? { failed: 0, pausedUntil: 0, isTrying: false }
    state.failed += 1
    state.isTrying = false
    if (state.failed >= failures) state.pausedUntil = now + pauseMs
    failing.set(service, state)
    for (const oldest of failing.keys()) if (failing.size > mostServices) failing.delete(oldest)
  }

  const settle = <F>(
    service: string,
    exit: Exit.Exit<unknown, F>,
    isFault: (error: F) => boolean,
    now: number
  ) => {
    const error = Exit.findErrorOption(exit)
    if (Option.isSome(error) && isFault(error.value)) return count(service, now)
    const state = failing.get(service)
    if (Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)) {
      if (state !== undefined) state.isTrying = false
    } else failing.delete(service)
  }

  /** Runs a call, or fails at once. `isFault` says whether a failure is the service's. */
  return <A, F, R>(
    service: string,
    call: Effect.Effect<A, F, R>,
    isFault: (error: F) => boolean
  ): Effect.Effect<A, E | F, R> =>
    Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const state = failing.get(service)
      if (state !== undefined && state.failed >= failures) {
        if (now < state.pausedUntil || state.isTrying) {
          return yield* Effect.fail(paused(Math.max(1, state.pausedUntil - now)))
        }
        state.isTrying = true
      }
      return yield* Effect.onExit(
        call,
        (exit) => Effect.map(Clock.currentTimeMillis, (then) => settle(service, exit, isFault, then))
      )
    })
}
