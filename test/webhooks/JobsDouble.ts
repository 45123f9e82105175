import { Cause, Context, Effect, Exit, Layer } from "effect"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { type JobId, newId } from "../../src/domain/platform/ids/Id.ts"
import { Jobs, type NewJob } from "../../src/domain/platform/jobs/Jobs.ts"
import { promiseToolsOf, toolsOf } from "../../src/domain/platform/modules/Handlers.ts"
import { emptyServiceRegistry } from "../../src/domain/platform/modules/ServiceRegistry.ts"
import { GiveUp, type TaskResult, Tasks } from "../../src/domain/platform/tasks/Task.ts"

/** An enqueued job and its outcome. */
export interface DoubleJob extends NewJob {
  readonly id: string
  attempts: number
  state: "pending" | "retrying" | "done" | "failed"
  output: unknown
}

/** Replaces the queue: keeps jobs, and a test runs them. */
export class JobsDouble extends Context.Service<JobsDouble, {
  readonly jobs: Array<DoubleJob>
}>()("stoa/test/webhooks/JobsDouble") {}

/** The queue of a test. */
export const jobsDouble: Layer.Layer<Jobs | JobsDouble> = Layer.effectContext(
  Effect.sync(() => {
    const jobs: Array<DoubleJob> = []
    const add = (job: NewJob) => {
      const id = newId<JobId>()
      jobs.push({ ...job, id, attempts: 0, state: "pending", output: undefined })
      return id
    }
    return Context.make(JobsDouble, { jobs }).pipe(Context.add(
      Jobs,
      Jobs.of({
        enqueue: (task, input, options) => Effect.sync(() => add({ task, input, options })),
        enqueueAll: (all) => Effect.sync(() => all.map(add))
      })
    ))
  })
)

const maxAttempts = (job: DoubleJob, policy: number | undefined) => job.options.maxAttempts ?? policy ?? 1

/** Runs a job once, as the queue would: as the service itself in the job's organization. */
export const runJob = Effect.fnUntraced(function*(job: DoubleJob) {
  const task = (yield* Tasks).find(job.task)
  if (task === undefined) return yield* Effect.die(new Error(`no task ${job.task}`))
  job.attempts++
  const { organizationId } = job.options
  const most = maxAttempts(job, task.retries?.attempts)
  const work = task.handler({
    input: job.input,
    ctx: Object.assign(
      toolsOf(emptyServiceRegistry(), organizationId, {}, Context.empty()),
      promiseToolsOf(Context.make(CurrentActor, systemActor(organizationId))).tools,
      { organizationId }
    ),
    job: { id: job.id, attemptNumber: job.attempts, maxAttempts: most }
  })
  const effect: Effect.Effect<TaskResult | void, unknown, CurrentActor> = Effect.isEffect(work)
    ? work
    : Effect.promise(() => work)
  const exit = yield* Effect.exit(Effect.provideService(effect, CurrentActor, systemActor(organizationId)))
  if (Exit.isSuccess(exit)) {
    job.state = "done"
    job.output = exit.value?.output
  } else {
    job.state = job.attempts >= most || Cause.squash(exit.cause) instanceof GiveUp ? "failed" : "retrying"
    job.output = String(Cause.squash(exit.cause))
  }
  return job
})

/** Runs the pending jobs one after the other, also those that are enqueued meanwhile, until none is left. */
export const runPending = Effect.gen(function*() {
  const { jobs } = yield* JobsDouble
  for (let next = jobs.find(({ state }) => state === "pending"); next !== undefined;) {
    yield* runJob(next)
    next = jobs.find(({ state }) => state === "pending")
  }
})

/** Runs every retry once without its wait, then the pending jobs. */
export const runRetries = Effect.gen(function*() {
  const { jobs } = yield* JobsDouble
  for (const job of jobs.filter(({ state }) => state === "retrying")) yield* runJob(job)
  yield* runPending
})
