import { Context, Effect, Latch, Layer, type Scope } from "effect"

/**
 * In-process notifications that a queue has work. They only shorten the wait of an idle worker: one who misses a
 * notification polls later.
 */
export class JobNotifier extends Context.Service<JobNotifier, {
  /** Wakes the workers that wait for the queue in this process; without a name, all workers. */
  readonly wake: (queue?: string) => Effect.Effect<void>
  /** A latch that every notification opens; its owner closes it before each look at the queue. */
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
