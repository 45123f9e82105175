import { Cause, Context, Data, Effect, Exit, Fiber, Layer, Option, Random } from "effect"
import { CurrentActor, systemActor } from "../access/Actor.ts"
import { promiseToolsOf, toolsOf } from "../modules/Handlers.ts"
import { emptyServiceRegistry, ServiceRegistry } from "../modules/ServiceRegistry.ts"
import { backoffAfter } from "./Backoff.ts"
import type { ClaimedJob, Settlement } from "./Job.ts"
import { measured } from "./JobMetrics.ts"
import { JobSettings } from "./JobSettings.ts"
import { errorText, outputText } from "./JobText.ts"
import { GiveUp, type Task, type TaskCall, type TaskResult } from "./Task.ts"
import { Tasks } from "./Tasks.ts"

/** Runs handlers and translates their result for the job. */
export class TaskRuns extends Context.Service<TaskRuns, {
  /**
   * Runs one try. A handler that fails, dies, throws, rejects or times out still ends as a settlement; only an
   * interruption of the fiber produces none.
   */
  readonly run: (job: ClaimedJob) => Effect.Effect<Settlement>
}>()("stoa/domain/jobs/TaskRuns") {
  static readonly layer = Layer.effect(
    TaskRuns,
    Effect.gen(function*() {
      const tasks = yield* Tasks
      const { timeLimitMs } = yield* JobSettings
      // Tests of the queue alone have no registry, so their handlers get an empty one.
      const serviceRegistry = Option.getOrElse(yield* Effect.serviceOption(ServiceRegistry), emptyServiceRegistry)
      return {
        run: (job: ClaimedJob) => {
          const task = tasks.find(job.taskSlug)
          return task === undefined
            ? Effect.succeed(unknown(job))
            : measured(task.slug, tryOf(serviceRegistry, task, job, task.timeLimitMs ?? timeLimitMs))
        }
      }
    })
  )
}

const ended = (job: ClaimedJob, status: Settlement["status"]): Settlement => ({
  id: job.id,
  status,
  output: null,
  error: null,
  delayMs: 0,
  counted: true
})

/** The task is unknown, so no try was made (spec §3). */
const unknown = (job: ClaimedJob): Settlement => ({
  ...ended(job, "failed"),
  error: `Unknown task slug: ${job.taskSlug}`,
  counted: false
})

/** Settlement of a job whose worker stops before the handler ends. */
export const released = (job: ClaimedJob): Settlement => ({
  ...ended(job, "pending"),
  error: "The process that ran it was told to stop.",
  counted: false
})

/** Settlement to write if the database refuses the original one. */
export const unwritable = (settlement: Settlement): Settlement => ({
  ...settlement,
  status: "failed",
  output: null,
  error: "What the task returned could not be stored."
})

/** What a handler failed, or its promise was rejected, with. */
class TaskFailed extends Data.TaggedError("TaskFailed")<{ readonly error: unknown }> {}

type Handled = ReturnType<Task["handler"]>

const isPromise = (made: Handled): made is Extract<Handled, Promise<unknown>> => !Effect.isEffect(made)

/** The handler's call, created lazily, because most handlers use little of it. */
const callOf = (
  serviceRegistry: ServiceRegistry["Service"],
  { attempts, id, input, maxAttempts, organizationId, taskSlug }: ClaimedJob,
  services: Context.Context<CurrentActor>
) => {
  let promised: ReturnType<typeof promiseToolsOf> | undefined
  const forPromises = () => promised ??= promiseToolsOf(services)
  let context: TaskCall["ctx"] | undefined
  const call: TaskCall = {
    input,
    get ctx() {
      return context ??= Object.assign(
        toolsOf(serviceRegistry, organizationId, { task: taskSlug, job: id }, services),
        forPromises().tools,
        { organizationId }
      )
    },
    job: { id, attemptNumber: attempts, maxAttempts }
  }
  return { call, abort: Effect.suspend(() => forPromises().abort) }
}

/** How long a promise can run after its signal and keep its job, and so the job's key. */
const overtimeMs = 30_000

/** The same for a stopping worker: it gets eight seconds before, and the cluster cuts it off after ten. */
const stoppingMs = 1_000

/** A running handler and the way to signal a timeout before it is interrupted. */
interface Handling {
  readonly work: Effect.Effect<TaskResult | void, TaskFailed, CurrentActor>
  /** Aborts the signal of a promise; undefined for an effect, which ends when it is interrupted. */
  readonly abort: () => Effect.Effect<void> | undefined
}

/**
 * A handler returns an effect or a promise, or throws before either. After the signal, wait for a promise to settle, so
 * that it does not overlap the next run of its key.
 */
const handlingOf = (serviceRegistry: ServiceRegistry["Service"], task: Task, job: ClaimedJob): Handling => {
  let stop: Effect.Effect<void> | undefined
  const work = Effect.contextWith((services: Context.Context<CurrentActor>) => {
    const { abort, call } = callOf(serviceRegistry, job, services)
    const made = task.handler(call)
    if (!isPromise(made)) return Effect.mapError(made, (error) => new TaskFailed({ error }))
    stop = abort
    const promised = Effect.tryPromise({ try: () => made, catch: (error) => new TaskFailed({ error }) })
    return Effect.onInterrupt(
      promised,
      () => Effect.andThen(abort, Effect.timeoutOption(Effect.exit(promised), stoppingMs))
    )
  })
  return { work, abort: () => stop }
}

/** The handler's original error, for every kind of failure. */
const reasonOf = (cause: Cause.Cause<TaskFailed>): unknown => {
  const reason = Cause.squash(cause)
  return reason instanceof TaskFailed ? reason.error : reason
}

const failure = Effect.fnUntraced(function*(task: Task, job: ClaimedJob, error: unknown) {
  const text = errorText(error)
  if (error instanceof GiveUp || job.attempts >= job.maxAttempts) return { ...ended(job, "failed"), error: text }
  const delayMs = backoffAfter(task.retries, job.attempts, yield* Random.next)
  return { ...ended(job, "pending"), error: text, delayMs }
})

const success = (task: Task, job: ClaimedJob, result: TaskResult | void) => {
  const output = outputText(result?.output)
  return output === undefined
    ? failure(task, job, new Error("The task's output is not JSON that can be stored."))
    : Effect.succeed({ ...ended(job, "succeeded"), output })
}

/**
 * Runs a handler with its time limit; undefined on a timeout. Most handlers are fast, and some end at once: the timer
 * starts only if one is still running after its first step.
 */
const within = Effect.fnUntraced(function*({ abort, work }: Handling, timeLimitMs: number) {
  const fiber = yield* Effect.forkChild(work, { startImmediately: true })
  const early = fiber.pollUnsafe()
  if (early !== undefined) return early
  const ended = yield* Effect.timeoutOption(Fiber.await(fiber), timeLimitMs)
  if (Option.isSome(ended)) return ended.value
  const recorded = abort()
  if (recorded !== undefined) yield* Effect.andThen(recorded, Effect.timeoutOption(Fiber.await(fiber), overtimeMs))
  yield* Fiber.interrupt(fiber)
  return undefined
})

const tryOf = Effect.fnUntraced(
  function*(serviceRegistry: ServiceRegistry["Service"], task: Task, job: ClaimedJob, timeLimitMs: number) {
    const handling = handlingOf(serviceRegistry, task, job)
    const exit = yield* Effect.provideService(
      within(handling, timeLimitMs),
      CurrentActor,
      systemActor(job.organizationId)
    )
    if (exit === undefined) return yield* failure(task, job, new Error(`The task took longer than ${timeLimitMs} ms.`))
    if (Exit.isSuccess(exit)) return yield* success(task, job, exit.value)
    yield* Effect.logDebug(`job ${job.id} of ${task.slug} failed`, exit.cause)
    return yield* failure(task, job, reasonOf(exit.cause))
  }
)
