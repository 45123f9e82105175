import { Context, Effect, Latch, Layer, Semaphore } from "effect"
import { JobSettings } from "../../domain/platform/tasks/JobSettings.ts"
import { Notifications } from "../Notifications.ts"

/** Wakes workers when a queue has work. A missed notification only delays: workers poll. */
export class JobNotifier extends Context.Service<JobNotifier>()("stoa/layers/jobs/JobNotifier", {
  make: Effect.sync(() => {
    const latches = new Map<Latch.Latch, string>()
    const unserved = Latch.makeUnsafe(false)
    let hears = false
    const wake = (queue?: string) =>
      Effect.sync(() => {
        let served = false
        for (const [latch, of] of latches) {
          if (queue !== undefined && of !== queue) continue
          latch.openUnsafe()
          served = true
        }
        if (!served) unserved.openUnsafe()
      })
    return {
      wake,
      unserved,
      /** Some may have been lost before. */
      listening: (on: boolean) =>
        Effect.suspend(() => {
          hears = on
          return wake()
        }),
      restOf: (pollMs: number): number => hears ? 3 * pollMs : pollMs,
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
}) {
  static readonly layer = Layer.effect(JobNotifier, JobNotifier.make)
}

export class WorkerLoopStarter extends Context.Service<WorkerLoopStarter>()("stoa/layers/jobs/WorkerLoopStarter", {
  make: Effect.map(JobNotifier, (jobNotifier) => {
    const latch = Latch.makeUnsafe(false)
    const wide = new Set<string>()
    let stopping = false
    return {
      latch,
      start: Effect.asVoid(latch.open),
      /** The queue needs all its slots. */
      widen: (queue: string) => Effect.andThen(Effect.sync(() => wide.add(queue)), Effect.asVoid(latch.open)),
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
      /** Starts runs one by one: each would open a connection. */
      inTurn: Semaphore.makeUnsafe(1).withPermits(1)
    }
  })
}) {
  static readonly layer = Layer.effect(WorkerLoopStarter, WorkerLoopStarter.make)
}

/** Receives notifications of other processes; without any, workers poll. */
export const jobNotificationsLayer = Layer.effectDiscard(
  Effect.gen(function*() {
    if (!(yield* JobSettings).autorun) return
    const { listening, wake } = yield* JobNotifier
    yield* (yield* Notifications).listen("stoa_jobs", { heard: wake, listening })
  })
)
