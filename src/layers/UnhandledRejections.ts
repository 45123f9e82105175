import { Effect, Layer } from "effect"

/**
 * Keeps the process when a promise fails that nobody waits for, and writes down what it failed with. Such a promise is
 * one that a hook, a task or an adapter of the deployment has begun and left; Node would end the process for it, and
 * with it the requests and jobs of everybody else. An exception that nobody catches ends the process still: it may have
 * left something half done.
 */
export const unhandledRejectionsLayer = Layer.effectDiscard(
  Effect.gen(function*() {
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    const recorded = (reason: unknown) => {
      fork(Effect.logError("a promise that nobody waits for failed; whoever began it should await it", reason))
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on("unhandledRejection", recorded)),
      () => Effect.sync(() => process.off("unhandledRejection", recorded))
    )
  })
)
