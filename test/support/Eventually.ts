import { Effect } from "effect"
import { waitFor } from "./waitFor.ts"

/**
 * Repeats a question to the running service until its answer is something other than undefined, null or false, and
 * gives that; the test fails with the description after `timeoutMs` (default 120 000). A question may also do a step of
 * work, such as running due jobs.
 */
export const eventually = Effect.fnUntraced(function*<A, R>(
  description: string,
  ask: Effect.Effect<A, never, R>,
  timeoutMs = 120_000
) {
  const run = Effect.runPromiseWith(yield* Effect.context<R>())
  return yield* Effect.promise(() => waitFor(description, () => run(ask), timeoutMs))
})
