import { Effect, Layer } from "effect"

/**
 * Keeps the process when a promise without a handler fails, and logs the failure. A hook, a task or an adapter of the
 * deployment started it without awaiting it; Node.js would end the process, with the requests and jobs of all others. An
 * exception that is not caught still ends the process: it may have left work half done.
 */
export const unhandledRejectionsLayer = Layer.effectDiscard(
  Effect.gen(function*() {
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    const recorded = (reason: unknown) => {
      fork(Effect.logError("a promise without a handler failed; the code that started it should await it", reason))
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on("unhandledRejection", recorded)),
      () => Effect.sync(() => process.off("unhandledRejection", recorded))
    )
  })
)
