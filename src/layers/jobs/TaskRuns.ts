import { Cause, Clock, Context, Data, Effect, Exit, Fiber, Layer, Metric, Option, Random } from "effect"
import { CurrentActor, systemActor } from "../../domain/platform/access/Actor.ts"
import type { ClaimedJob, Settlement } from "../../domain/platform/jobs/Job.ts"
import { promiseToolsOf, toolsOf } from "../../domain/platform/modules/Handlers.ts"
import { emptyServiceRegistry, ServiceRegistry } from "../../domain/platform/modules/ServiceRegistry.ts"
import { JobSettings } from "../../domain/platform/tasks/JobSettings.ts"
import {
  GiveUp,
  type Retries,
  RetryIn,
  type Task,
  type TaskCall,
  type TaskResult,
  Tasks
} from "../../domain/platform/tasks/Task.ts"

/** Contract, platform §12.2. */
const fallback: NonNullable<Retries["backoff"]> = { type: "fixed", delay: 1_000 }

const longest = 7 * 86_400_000

/**
 * Milliseconds after failed tries (spec §3): `delay`, or `delay` times the factor to the power tries - 1. `random` in 0
 * to 1 spreads it by the jitter.
 */
export const backoffAfter = (retries: Retries | undefined, tries: number, random: number): number => {
  const { ceiling = longest, delay, factor = 2, jitter = 0, type } = retries?.backoff ?? fallback
  const wait = type === "fixed" ? delay : delay * factor ** Math.min(tries - 1, 40)
  return Math.round(Math.min(ceiling, longest, wait * (1 + jitter * (2 * random - 1))))
}

const maxErrorLength = 10_000

/** Half a surrogate pair or NUL as `JSON.stringify` writes them: not for jsonb. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89ab][0-9a-f]{2})/

export const errorText = (error: unknown): string => {
  const text = error instanceof Error ? error.message || error.name : jsonOf(error)
  return text.replaceAll("\0", "").toWellFormed().slice(0, maxErrorLength).toWellFormed() ||
    "It failed without a reason."
}

const jsonOf = (error: unknown): string => {
  if (typeof error === "string") return error
  try {
    return JSON.stringify(error) ?? String(error)
  } catch {
    return String(error)
  }
}

const outputText = (output: unknown): string | null | undefined => {
  try {
    const text = JSON.stringify(output)
    return text === undefined ? null : unstorable.test(text) ? undefined : text
  } catch {
    return undefined
  }
}

/** Created once with fixed attributes: passing them on every update costs more than an empty job. */
const seriesOf = (task: string) => {
  const runs = (outcome: string) =>
    Metric.counter("stoa_job_runs_total", {
      description: "Tries of jobs that ended in this process, by task and outcome: succeeded, retried or failed",
      incremental: true,
      attributes: { task, outcome }
    })
  return {
    duration: Metric.histogram("stoa_job_duration_seconds", {
      description: "How long a try of a job took, by task",
      boundaries: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300],
      attributes: { task }
    }),
    succeeded: runs("succeeded"),
    pending: runs("retried"),
    failed: runs("failed")
  }
}

const known = new Map<string, ReturnType<typeof seriesOf>>()

export const measured = (task: string, run: Effect.Effect<Settlement>): Effect.Effect<Settlement> =>
  Effect.contextWith((services: Context.Context<never>) => {
    const clock = Context.get(services, Clock.Clock)
    const begun = clock.currentTimeMillisUnsafe()
    return Effect.map(run, (settlement) => {
      const of = known.get(task) ?? seriesOf(task)
      known.set(task, of)
      of.duration.updateUnsafe((clock.currentTimeMillisUnsafe() - begun) / 1_000, services)
      of[settlement.status].updateUnsafe(1, services)
      return settlement
    })
  })

export class TaskRuns extends Context.Service<TaskRuns>()("stoa/layers/jobs/TaskRuns", {
  make: Effect.gen(function*() {
    const tasks = yield* Tasks
    const { timeLimitMs } = yield* JobSettings
    const serviceRegistry = Option.getOrElse(yield* Effect.serviceOption(ServiceRegistry), emptyServiceRegistry)
    return {
      /** Every failure becomes a settlement; only an interruption gives none. */
      run: (job: ClaimedJob) => {
        const task = tasks.find(job.taskSlug)
        return task === undefined
          ? Effect.succeed(ended(job, "failed", { error: `Unknown task slug: ${job.taskSlug}`, counted: false }))
          : measured(task.slug, tryOf(serviceRegistry, task, job, task.timeLimitMs ?? timeLimitMs))
      }
    }
  })
}) {
  static readonly layer = Layer.effect(TaskRuns, TaskRuns.make)
}

const ended = (
  { id }: ClaimedJob,
  status: Settlement["status"],
  rest: Partial<Omit<Settlement, "id" | "status">>
): Settlement => ({ id, status, output: null, error: null, delayMs: 0, counted: true, ...rest })

export const released = (job: ClaimedJob): Settlement =>
  ended(job, "pending", { error: "The process that ran it was stopped.", counted: false })

export const unwritable = (settlement: Settlement): Settlement => ({
  ...settlement,
  status: "failed",
  output: null,
  error: "What the task returned could not be stored."
})

class TaskFailed extends Data.TaggedError("TaskFailed")<{ readonly error: unknown }> {}

type Handled = ReturnType<Task["handler"]>

const isPromise = (made: Handled): made is Extract<Handled, Promise<unknown>> => !Effect.isEffect(made)

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

/** How long a promise may run after its signal and keep its job's key. */
const overtimeMs = 30_000

const stoppingMs = 1_000

interface Handling {
  readonly work: Effect.Effect<TaskResult | void, TaskFailed, CurrentActor>
  /** Undefined for an effect, which ends when interrupted. */
  readonly abort: () => Effect.Effect<void> | undefined
}

/** Waits for a promise after its signal: it must not overlap the next run of its key. */
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

const failure = Effect.fnUntraced(function*(task: Task, job: ClaimedJob, reason: unknown) {
  const error = errorText(reason)
  if (reason instanceof RetryIn) {
    return ended(job, "pending", {
      error,
      delayMs: Math.round(Math.max(0, Math.min(reason.delayMs, longest))),
      counted: false
    })
  }
  if (reason instanceof GiveUp || job.attempts >= job.maxAttempts) return ended(job, "failed", { error })
  return ended(job, "pending", { error, delayMs: backoffAfter(task.retries, job.attempts, yield* Random.next) })
})

const success = (task: Task, job: ClaimedJob, result: TaskResult | void) => {
  const output = outputText(result?.output)
  return output === undefined
    ? failure(task, job, new Error("The task's output is not JSON that can be stored."))
    : Effect.succeed(ended(job, "succeeded", { output }))
}

/** Undefined on a timeout. The timer starts only if the handler still runs after its first step. */
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
    const reason = Cause.squash(exit.cause)
    return yield* failure(task, job, reason instanceof TaskFailed ? reason.error : reason)
  }
)
