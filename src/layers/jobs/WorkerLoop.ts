import { Clock, Context, Effect, Layer } from "effect"
import { EntityId, Sharding } from "effect/cluster"
import { Workflow, WorkflowEngine } from "effect/workflow"
import { newId } from "../../domain/platform/ids/Id.ts"
import { defaultQueue, JobSettings, permanentQueues } from "../../domain/platform/tasks/JobSettings.ts"
import { Tasks } from "../../domain/platform/tasks/Task.ts"
import { JobClaimStatements } from "./JobClaimStatements.ts"
import { JobNotifier, WorkerLoopStarter } from "./JobNotifier.ts"
import { JobQueueRepo } from "./JobQueueRepo.ts"
import { runWorkerSlot } from "./WorkerSlot.ts"
import { WorkerLoopRun, WorkerSlotLeases, WorkerSlotRepo } from "./WorkerSlotRepo.ts"

/**
 * The durable loop of a queue's slot (ARCHITECTURE §3, Jobs): claims, runs and settles jobs for about a minute, then
 * starts its successor. If its process dies, it runs again elsewhere and first reclaims the slot's jobs. Database steps
 * are plain code: job records hold retries and times.
 */
export const WorkerLoop = Workflow.make("WorkerLoop", {
  payload: WorkerLoopRun.fields,
  idempotencyKey: ({ queue, sequence, slot }) => `${queue}/${slot}/${sequence}`,
  // A defect is a failure of the database or the process: run again.
  annotations: Context.make(Workflow.CaptureDefects, false)
})

const widenEveryMs = 5_000

const widening = (
  starter: WorkerLoopStarter["Service"],
  { queue, slot }: { readonly queue: string; readonly slot: number }
) => {
  let last = -Infinity
  return Effect.flatMap(Clock.currentTimeMillis, (at) => {
    if (slot > 0 || at - last < widenEveryMs) return Effect.void
    last = at
    return starter.widen(queue)
  })
}

/** Milliseconds between checks for blocked jobs with a free key; claims check too. */
const unparkMs = 10_000

const idleLoops = 5

/**
 * The first slot of a permanent queue unblocks jobs with a free key and reclaims those of dead workers, for all queues.
 */
const keepOrder = Effect.gen(function*() {
  const repo = yield* JobQueueRepo
  const { reapMs } = yield* JobSettings
  const every = (what: string, ms: number, work: Effect.Effect<unknown>) =>
    work.pipe(
      Effect.catchDefect((defect) => Effect.logWarning(`${what} failed`, defect)),
      Effect.delay(ms),
      Effect.forever
    )
  const reap = Effect.tap(
    repo.reap,
    ({ failed, pending }) =>
      pending + failed === 0
        ? Effect.void
        : Effect.logWarning(`jobs of dead workers: ${pending} again, ${failed} failed`)
  )
  yield* Effect.all([every("unparking jobs", unparkMs, repo.unpark), every("reaping jobs", reapMs, reap)], {
    concurrency: 2,
    discard: true
  })
})

/** Workflows that jobs start are no children of the loop: one that waits would suspend it, and each that ends would wake it. */
const outsideOfLoop = (work: Parameters<typeof runWorkerSlot>[0]) =>
  Effect.updateContext(
    runWorkerSlot(work),
    (context: Context.Context<Effect.Services<ReturnType<typeof runWorkerSlot>>>) =>
      Context.omit(WorkflowEngine.WorkflowInstance)(context)
  )

export const workerLoopLayer = WorkerLoop.toLayer(
  Effect.fn("WorkerLoop")(function*(run, executionId) {
    const slots = yield* WorkerSlotRepo
    const settings = yield* JobSettings
    const sharding = yield* Sharding.Sharding
    const starter = yield* WorkerLoopStarter
    const { queue, slot } = run
    const [name, token] = [`${queue}/${slot}`, newId()]
    const { reclaimSlot } = yield* JobQueueRepo
    const lease = yield* (yield* WorkerSlotLeases).take(run, token)
    if (lease === undefined) return
    const left = yield* starter.inTurn(reclaimSlot(name, token))
    if (left.pending + left.failed > 0) {
      yield* Effect.logWarning(`slot ${name} takes over: ${left.pending} jobs again, ${left.failed} failed`)
    }
    const wanted = settings.autorun && slot < settings.slots
    const shard = sharding.getShardId(EntityId.make(executionId), "default")
    const mine = () => wanted && !starter.isStopping() && sharding.hasShardId(shard) && lease.isHeld()
    const standing = slot === 0 && permanentQueues(yield* Tasks, settings).includes(queue)
    const idleMs = standing ? idleLoops * settings.loopMs : settings.loopMs
    const taken = yield* Effect.scoped(Effect.gen(function*() {
      if (queue === defaultQueue && slot === 0 && wanted) yield* Effect.forkScoped(keepOrder)
      return yield* outsideOfLoop({ queue, slot: name, token, mine, lease, busy: widening(starter, run), idleMs })
    }))
    yield* wanted && (standing || taken > 0 || !mine()) ? slots.end(run, token) : slots.close(run, token)
    yield* starter.start
  }, Effect.scoped)
)

const lookMs = 2_000
const quietLookMs = 10_000

/**
 * Starts the loops of all required slots, in every runner: starting a run twice starts it once. Depends on
 * `workerLoopLayer`.
 */
export const workerLoopsLayer = Layer.effectDiscard(
  Effect.gen(function*() {
    const settings = yield* JobSettings
    if (!settings.autorun) return
    const slots = yield* WorkerSlotRepo
    const tasks = yield* Tasks
    const starter = yield* WorkerLoopStarter
    yield* (yield* JobClaimStatements).prepareOrder(settings.order)

    const look = Effect.gen(function*() {
      starter.latch.closeUnsafe()
      yield* slots.prepare(permanentQueues(tasks, settings), yield* starter.takeWide, settings.slots)
      yield* Effect.forEach(yield* slots.open, (run) => WorkerLoop.execute(run, { discard: true, detached: true }), {
        concurrency: "unbounded",
        discard: true
      })
    })
    yield* Effect.addFinalizer(() => starter.stop)
    const { restOf, unserved } = yield* JobNotifier
    const untilHeard = Effect.gen(function*() {
      yield* Effect.sleep(lookMs)
      if (restOf(1) > 1) yield* Effect.timeoutOption(unserved.await, quietLookMs - lookMs)
      unserved.closeUnsafe()
    })
    yield* look.pipe(
      Effect.catchCause((cause) => Effect.logWarning("worker loops could not be started", cause)),
      Effect.andThen(Effect.raceFirst(starter.latch.await, untilHeard)),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
