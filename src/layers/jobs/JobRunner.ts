import { Cause, Data, Effect, Exit, Layer, Schema } from "effect"
import { newId, nilId } from "../../domain/platform/ids/Id.ts"
import type { ClaimedJob, RunCounts, Settlement } from "../../domain/platform/jobs/Job.ts"
import { JobRecordRepo } from "../../domain/platform/jobs/JobRecordRepo.ts"
import { EngineDrivesJobs, JobRunner, type RunRequest } from "../../domain/platform/jobs/Jobs.ts"
import {
  askEngine,
  type EngineCall,
  type EngineOutcome,
  JobSettings,
  permanentQueues
} from "../../domain/platform/tasks/JobSettings.ts"
import { defineTask, Tasks } from "../../domain/platform/tasks/Task.ts"
import { type Claim, type Claimed, JobClaimStatements } from "./JobClaimStatements.ts"
import { JobNotifier } from "./JobNotifier.ts"
import { JobQueueRepo } from "./JobQueueRepo.ts"
import { makeJobWorker, now } from "./JobWorker.ts"
import { JobSchedules } from "./QueuedJobs.ts"
import { errorText, TaskRuns } from "./TaskRuns.ts"

const shareable = 4

export const jobRunnerLayer = Layer.effect(
  JobRunner,
  Effect.gen(function*() {
    const claims = yield* JobClaimStatements
    const settles = yield* JobQueueRepo
    const schedules = yield* JobSchedules
    const settings = yield* JobSettings
    const { engine } = settings
    const context = yield* Effect.context<JobQueueRepo | JobSettings | TaskRuns | JobNotifier>()
    const jobNotifier = yield* JobNotifier
    const shares = { after: "" }
    let reapedAt = -Infinity

    const reap = Effect.gen(function*() {
      const at = yield* now
      if (at - reapedAt < settings.reapMs) return 0
      reapedAt = at
      const { failed, pending } = yield* settles.reap
      return pending + failed
    })

    const runOwn = Effect.fnUntraced(function*({ limit, queue }: RunRequest) {
      yield* schedules.enqueueDue
      const reaped = yield* reap
      yield* settles.unpark
      const claim = { queue, slot: `run-${newId()}`, token: newId(), leaseMs: settings.leaseMs, limit }
      const worker = yield* makeJobWorker(queue, claim.token, yield* jobNotifier.latch(queue))
      yield* Effect.forkScoped(worker.beat)
      const released = yield* Effect.onInterrupt(
        Effect.tap(takeInTurn(claims, settings, claim, worker.take, shares), worker.finish),
        () => worker.release
      )
      return { ...worker.counts(), released, reaped }
    }, Effect.scoped)

    return JobRunner.of({
      run: Effect.fn("JobRunner.run")(function*(request: RunRequest) {
        if (engine === undefined) return yield* Effect.provideContext(runOwn(request), context)
        const { execution } = engine
        if (execution.mode === "push") return yield* new EngineDrivesJobs()
        return yield* askEngine(() => execution.run(request))
      })
    })
  })
)

/**
 * Claims and starts jobs, the last quarter from organizations without any yet. Returns how many were set aside for
 * their key; these do not count.
 */
const takeInTurn = Effect.fnUntraced(function*(
  claims: JobClaimStatements["Service"],
  { order }: JobSettings["Service"],
  claim: Claim,
  begin: (jobs: ReadonlyArray<ClaimedJob>) => Effect.Effect<void>,
  shares: { after: string }
) {
  const served = new Set<string>()
  let [left, released] = [claim.limit, 0]

  const begun = Effect.fnUntraced(function*({ jobs, parked }: Claimed) {
    left -= jobs.length
    released += parked
    for (const { organizationId } of jobs) served.add(organizationId)
    yield* begin(jobs)
    return parked
  })
  const takeDownTo = Effect.fnUntraced(function*(rest: number) {
    let more = true
    while (more && left > rest) more = (yield* begun(yield* claims.take({ ...claim, limit: left - rest }, order))) > 0
  })

  const share = claim.limit >= shareable ? claim.limit >> 2 : 0
  yield* takeDownTo(share)
  if (share > 0 && left === share) {
    const found = yield* claims.takeFairly({ ...claim, limit: left }, shares.after, [...served])
    shares.after = found.after
    yield* begun(found)
  }
  yield* takeDownTo(0)
  return released
})

const atOnce = 100

const Output = Schema.fromJsonString(Schema.Unknown)

const outcomeOf = ({ delayMs, error, output, status }: Settlement): EngineOutcome =>
  status === "succeeded"
    ? { status, output: output === null ? null : Schema.decodeUnknownSync(Output)(output) }
    : status === "failed"
    ? { status, error: error ?? "" }
    : { status: "retry", error: error ?? "", delayMs }

/** Connects the deployment's engine: it gets the tasks and a way to run one; a pull engine's queues are polled. */
export const engineDriverLayer = Layer.effectDiscard(
  Effect.gen(function*() {
    const settings = yield* JobSettings
    const { engine } = settings
    if (engine === undefined) return
    const runs = yield* TaskRuns
    const tasks = yield* Tasks

    const run = async ({ attempt, organizationId, task, ...call }: EngineCall): Promise<EngineOutcome> => {
      const job = { ...call, organizationId, taskSlug: task, attempts: attempt, createdAt: new Date(0) }
      const exit = await Effect.runPromiseExit(runs.run(job))
      return Exit.isSuccess(exit) ? outcomeOf(exit.value) : {
        status: "retry",
        error: errorText(Cause.squash(exit.cause)),
        delayMs: 0
      }
    }
    yield* askEngine(() => engine.register({ tasks: tasks.all(), processingOrder: settings.order, run }))

    const { execution } = engine
    if (execution.mode === "push" || !settings.autorun) return
    const look = (queue: string) =>
      askEngine(() => execution.run({ queue, limit: atOnce })).pipe(
        Effect.catchDefect((defect) => Effect.logWarning(`the queue ${queue} could not be run`, defect))
      )
    yield* Effect.forEach(permanentQueues(tasks, settings), look, { discard: true }).pipe(
      Effect.delay(settings.pollMs),
      Effect.forever,
      Effect.forkScoped
    )
  })
)

const reapStale = Tasks.add(Effect.map(JobQueueRepo, (repo) =>
  defineTask({
    slug: "jobs/reap-stale",
    handler: () => Effect.map(repo.reap, ({ failed, pending }) => ({ output: { reapedCount: pending + failed } }))
  })))

const purgeEnded = Tasks.add(Effect.gen(function*() {
  const repo = yield* JobRecordRepo
  const { keepFailedDays: failed, keepSucceededDays: succeeded } = yield* JobSettings
  return defineTask({
    slug: "jobs/purge-ended",
    schedule: "*/10 * * * *",
    handler: Effect.fnUntraced(function*() {
      let purgedCount = 0
      for (let after: string | undefined = nilId; after !== undefined;) {
        const purged: Effect.Success<ReturnType<typeof repo.purge>> = yield* repo.purge({ succeeded, failed }, after)
        purgedCount += purged.removed
        after = purged.next
      }
      return { output: { purgedCount } }
    })
  })
}))

export const registeredTasksLayer = Layer.merge(reapStale, purgeEnded)

export class RunRefused extends Data.TaggedError("RunRefused")<{ readonly message: string }> {}

export const runQueue = Effect.fnUntraced(function*(queue: string, limit: number) {
  if (limit < 1 || limit > 100) return yield* new RunRefused({ message: "--limit must be from 1 to 100." })
  const runner = yield* JobRunner
  return yield* Effect.catchTag(
    runner.run({ queue, limit }),
    "Conflict/EngineDrivesJobs",
    ({ error }) => Effect.fail(new RunRefused({ message: error.message }))
  )
})

export const tellRun = (queue: string, { failed, processed, reaped, released, retried }: RunCounts): string =>
  `queue ${queue}: ${processed} succeeded, ${failed} failed, ${retried} to be tried again, ${released} released, ` +
  `${reaped} taken from dead workers`
