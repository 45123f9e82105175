import { Clock, Context, Effect, Schema } from "effect"
import { EntityId, Sharding } from "effect/cluster"
import { Workflow } from "effect/workflow"
import { newId } from "../../domain/ids/Id.ts"
import { JobSettings } from "../../domain/jobs/JobSettings.ts"
import { JobSettleRepo } from "../../domain/jobs/JobSettleRepo.ts"
import { Tasks } from "../../domain/jobs/Tasks.ts"
import { WorkerSlotRepo } from "../../domain/jobs/WorkerSlotRepo.ts"
import { defaultQueue, standingQueues } from "./StandingQueues.ts"
import { WorkerLoopStarter } from "./WorkerLoopStarter.ts"
import { runWorkerSlot } from "./WorkerSlot.ts"
import { WorkerSlotLeases } from "./WorkerSlotLeases.ts"

/**
 * The standing durable cycle of a slot of a queue (ARCHITECTURE §3, Jobs). Its work is to claim, run and settle jobs for
 * about a minute; then its successor is started. What makes it durable is that the engine runs it again, on another
 * runner, when its process dies: it first takes back what the slot held. Database steps are plain code in the body, and
 * every job's own retries and times are in its record, so that nothing is kept twice.
 */
export const WorkerLoop = Workflow.make("WorkerLoop", {
  payload: { queue: Schema.String, slot: Schema.Int, sequence: Schema.Int },
  idempotencyKey: ({ queue, sequence, slot }) => `${queue}/${slot}/${sequence}`,
  // What dies here is the database or the process: the cycle runs again.
  annotations: Context.make(Workflow.CaptureDefects, false)
})

/** How often a slot that has much to do says so, in ms. */
const widenEveryMs = 5_000

/** Jobs that come while others are in hand are for all slots of their queue: the first one sees to it that it has them. */
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

/** How often jobs that lost their turn for a key are looked for, in ms. */
const unparkMs = 1_000

/**
 * The first slot of the queue that always stands keeps order in all of them: keys that nobody goes on with, and jobs of
 * dead workers.
 */
const keepOrder = Effect.gen(function*() {
  const repo = yield* JobSettleRepo
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

/** The cycle's behaviour, in processes that run actors. */
export const workerLoopLayer = WorkerLoop.toLayer(
  Effect.fn("WorkerLoop")(function*(cycle, executionId) {
    const slots = yield* WorkerSlotRepo
    const settings = yield* JobSettings
    const sharding = yield* Sharding.Sharding
    const starter = yield* WorkerLoopStarter
    const { queue, slot } = cycle
    const [name, token] = [`${queue}/${slot}`, newId()]
    const { reclaimSlot } = yield* JobSettleRepo
    const lease = yield* (yield* WorkerSlotLeases).take(cycle, token)
    if (lease === undefined) return
    const left = yield* starter.inTurn(reclaimSlot(name, token))
    if (left.pending + left.failed > 0) {
      yield* Effect.logWarning(`slot ${name} takes over: ${left.pending} jobs again, ${left.failed} failed`)
    }
    const wanted = settings.autorun && slot < settings.slots
    const shard = sharding.getShardId(EntityId.make(executionId), "default")
    const mine = () => wanted && !starter.isStopping() && sharding.hasShardId(shard) && lease.isHeld()
    const taken = yield* Effect.scoped(Effect.gen(function*() {
      if (queue === defaultQueue && slot === 0 && wanted) yield* Effect.forkScoped(keepOrder)
      return yield* runWorkerSlot({ queue, slot: name, token, mine, lease, busy: widening(starter, cycle) })
    }))
    const standing = slot === 0 && standingQueues(yield* Tasks, settings).includes(queue)
    yield* wanted && (standing || taken > 0 || !mine()) ? slots.end(cycle, token) : slots.close(cycle, token)
    yield* starter.start
  }, Effect.scoped)
)
