import { Effect, Layer } from "effect"
import { JobClaimRepo } from "../../domain/jobs/JobClaimRepo.ts"
import { JobSettings } from "../../domain/jobs/JobSettings.ts"
import { Tasks } from "../../domain/jobs/Tasks.ts"
import { WorkerSlotRepo } from "../../domain/jobs/WorkerSlotRepo.ts"
import { standingQueues } from "./StandingQueues.ts"
import { WorkerLoop } from "./WorkerLoop.ts"
import { WorkerLoopStarter } from "./WorkerLoopStarter.ts"

/** How often a runner looks for loop runs that have not begun: after a start, or when their runner stopped. */
const lookEvery = "2 seconds"

/**
 * Starts the worker loop of every required slot: the first one of each permanent queue, and the others of queues with
 * enough work. Every runner does so: starting a run twice starts it once. Needs the loop's behaviour, so it depends on
 * `workerLoopLayer`.
 */
export const jobCyclesLayer = Layer.effectDiscard(
  Effect.gen(function*() {
    const settings = yield* JobSettings
    if (!settings.autorun) return
    const slots = yield* WorkerSlotRepo
    const tasks = yield* Tasks
    const starter = yield* WorkerLoopStarter
    yield* (yield* JobClaimRepo).prepareOrder(settings.order)

    const look = Effect.gen(function*() {
      starter.latch.closeUnsafe()
      yield* slots.prepare(standingQueues(tasks, settings), yield* starter.takeWide, settings.slots)
      yield* Effect.forEach(yield* slots.open, (cycle) => WorkerLoop.execute(cycle, { discard: true }), {
        // Together, so that their requests are one statement.
        concurrency: "unbounded",
        discard: true
      })
    })
    yield* Effect.addFinalizer(() => starter.stop)
    yield* look.pipe(
      Effect.catchCause((cause) => Effect.logWarning("cycles of jobs could not be started", cause)),
      Effect.andThen(Effect.timeoutOption(starter.latch.await, lookEvery)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
