import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Latch, Layer, Queue, type Scope, Semaphore } from "effect"
import { Reactivity } from "effect/reactivity"
import { JobSettings } from "../../domain/jobs/JobSettings.ts"
import { connectingTo } from "../config/DatabaseTls.ts"
import { Database, keepAlive } from "../Database.ts"

/**
 * In-process notifications that a queue has work. They only shorten the wait of an idle worker: one who misses a
 * notification polls later.
 */
export class JobNotifier extends Context.Service<JobNotifier, {
  /** Wakes the workers that wait for the queue in this process; without a name, all workers. */
  readonly wake: (queue?: string) => Effect.Effect<void>
  /** A latch that every notification opens; its owner closes it before each look at the queue. */
  readonly latch: (queue: string) => Effect.Effect<Latch.Latch, never, Scope.Scope>
}>()("stoa/layers/jobs/JobNotifier") {
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
}>()("stoa/layers/jobs/WorkerLoopStarter") {
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

/** Whoever listens anew may have missed something. */
const again = "1 second"

/**
 * Hears of jobs that other processes enqueue, on a connection of its own, and wakes the workers of this one. Without it,
 * or while its connection is away, workers find jobs at their next look.
 */
export const jobNotificationsLayer = Layer.effectDiscard(
  Effect.gen(function*() {
    if (!(yield* JobSettings).autorun) return
    const jobNotifier = yield* JobNotifier
    const { url } = yield* Database
    const listen = Effect.gen(function*() {
      const client = yield* PgClient.make({
        ...connectingTo(url),
        keepAlive,
        maxConnections: 1,
        applicationName: "stoa-jobs"
      })
      const heard = yield* client.listen("stoa_jobs")
      yield* jobNotifier.wake()
      return yield* Effect.forever(Effect.flatMap(Queue.take(heard), ({ payload }) => jobNotifier.wake(payload)))
    }).pipe(Effect.scoped)
    yield* listen.pipe(
      Effect.catchCause((cause) => Effect.logWarning("the queue's notifications are away", cause)),
      Effect.andThen(Effect.sleep(again)),
      Effect.forever,
      Effect.forkScoped
    )
  })
).pipe(Layer.provide(Reactivity.layer))
