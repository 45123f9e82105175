import { Context, Effect, Latch, Layer, Semaphore } from "effect"
import { JobNotifier } from "../../domain/jobs/JobNotifier.ts"

/** What the cycles of this process and whoever starts them tell each other. */
export class WorkerLoopStarter extends Context.Service<WorkerLoopStarter, {
  /** A cycle is open: nobody need wait until he looks. */
  readonly start: Effect.Effect<void>
  /** A queue has more to do than its first slot can take: it is to have all of its slots. */
  readonly widen: (queue: string) => Effect.Effect<void>
  /** The queues that were named so since this was asked. */
  readonly takeWide: Effect.Effect<ReadonlyArray<string>>
  /** The process stops: its slots end what they have in hand and take no more. */
  readonly stop: Effect.Effect<void>
  readonly isStopping: () => boolean
  /** Cycles begin one after the other: a process starts with several, and would open a connection for each. */
  readonly inTurn: <A, E, R>(beginning: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Opens with every `start` and `widen`; whoever waits closes it before he looks. */
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
