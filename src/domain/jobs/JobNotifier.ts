import { Context, Effect, Latch, Layer, type Scope } from "effect"

/**
 * Hints inside of a process that a queue has something to do. They spare an idle worker its wait and nothing depends on
 * them: whoever misses one looks by himself after a while.
 */
export class JobNotifier extends Context.Service<JobNotifier, {
  /** Wakes whoever waits for the queue in this process; without a name everybody. */
  readonly wake: (queue?: string) => Effect.Effect<void>
  /** A latch that opens with every hint, and that its owner closes before he looks. */
  readonly latch: (queue: string) => Effect.Effect<Latch.Latch, never, Scope.Scope>
}>()("stoa/domain/jobs/JobNotifier") {
  static readonly layer = Layer.sync(JobNotifier, () => {
    const latches = new Map<Latch.Latch, string>()
    return {
      wake: (queue?: string) =>
        Effect.sync(() => {
          for (const [latch, of] of latches) if (queue === undefined || of === queue) latch.openUnsafe()
        }),
      latch: (queue: string) =>
        Effect.acquireRelease(
          Effect.sync(() => {
            const latch = Latch.makeUnsafe(false)
            latches.set(latch, queue)
            return latch
          }),
          (latch) => Effect.sync(() => latches.delete(latch))
        )
    }
  })
}
