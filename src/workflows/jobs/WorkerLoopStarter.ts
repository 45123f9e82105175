import { Context, Effect, Latch, Layer, Semaphore } from "effect"
import { JobNotifier } from "../../domain/jobs/JobNotifier.ts"

/** Signals between the worker loops of this process and their starter. */
export class WorkerLoopStarter extends Context.Service<WorkerLoopStarter, {
  /** A loop run is open, so the starter need not wait for its next poll. */
  readonly start: Effect.Effect<void>
  /** A queue has more work than its first slot can take and needs all its slots. */
  readonly widen: (queue: string) => Effect.Effect<void>
  /** The queues widened since the last call. */
  readonly takeWide: Effect.Effect<ReadonlyArray<string>>
  /** The process stops: its slots finish their jobs and claim no more. */
  readonly stop: Effect.Effect<void>
  readonly isStopping: () => boolean
  /** Starts runs one after the other: a process starts with several, and each would open a connection. */
  readonly inTurn: <A, E, R>(beginning: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Opens with every `start` and `widen`; the waiter closes it before each look. */
  readonly latch: Latch.Latch
}>()("stoa/workflows/jobs/WorkerLoopStarter") {
  static readonly layer = Layer.effect(
    WorkerLoopStarter,
    Effect.map(JobNotifier, (jobNotifier) => {
      const latch = Latch.makeUnsafe(false)
      const wide = new Set<string>()
      let stopping = false
      return {
        latch,
        start: Effect.asVoid(latch.open),
        widen: (queue) => Effect.andThen(Effect.sync(() => wide.add(queue)), Effect.asVoid(latch.open)),
        takeWide: Effect.sync(() => {
          const queues = [...wide]
          wide.clear()
          return queues
        }),
        stop: Effect.andThen(
          Effect.sync(() => {
            stopping = true
          }),
          jobNotifier.wake()
        ),
        isStopping: () => stopping,
        inTurn: Semaphore.makeUnsafe(1).withPermits(1)
      }
    })
  )
}
