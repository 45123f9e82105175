import { Effect, Layer, Result } from "effect"
import { ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import { newId } from "../../domain/ids/Id.ts"
import { Jobs, type NewJob } from "../../domain/jobs/Jobs.ts"
import { askEngine, type EngineJob, JobSettings } from "../../domain/jobs/JobSettings.ts"
import { type Task, Tasks } from "../../domain/jobs/Task.ts"
import { isStorableObject } from "../../domain/text/Storable.ts"
import { JobEnqueueRepo, type NewJobRow } from "./JobEnqueueRepo.ts"
import { JobNotifier } from "./JobNotifier.ts"

/** Maximum length of a queue, task or key: all are indexed. */
const maxNameLength = 255

const storable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")

const refusal = (path: string, text: string) => ValidationFailed.of(path, text)

const wrongName = (path: string, text: string) =>
  text.length >= 1 && text.length <= maxNameLength && storable(text)
    ? undefined
    : refusal(path, `must be 1 to ${maxNameLength} characters`)

const wrongNumber = (path: string, value: number, [least, most]: readonly [number, number]) =>
  Number.isInteger(value) && value >= least && value <= most
    ? undefined
    : refusal(path, `must be a whole number from ${least} to ${most}`)

/** A hundred years; further than any delay and short of what a timestamp holds. */
const maxDelay = 100 * 365 * 86_400_000

/** The caller's key, else the task's key for an input already checked to be JSON. */
const keyOf = (task: Task | undefined, { input, options }: NewJob): Result.Result<string | null, ValidationFailed> => {
  if (!isStorableObject(input)) return Result.fail(refusal("input", "must be a JSON object"))
  try {
    return Result.succeed(options.concurrencyKey ?? task?.concurrency?.key(input) ?? null)
  } catch (error) {
    return Result.fail(refusal("input", `the task cannot make its key of it: ${String(error)}`))
  }
}

/**
 * The job with its task's policies under the caller's options (spec §2, enqueue options). A plain function, because it
 * runs for every job of a bulk of thousands.
 */
const prepared = (task: Task | undefined, job: NewJob): Result.Result<EngineJob, ValidationFailed> => {
  const { input, options } = job
  const organizationId = options.organizationId.trim()
  const unnamed = wrongName("organizationId", organizationId) ?? wrongName("task", job.task)
  if (unnamed !== undefined) return Result.fail(unnamed)
  const found = keyOf(task, job)
  if (Result.isFailure(found)) return Result.fail(found.failure)
  const key = found.success
  const made: EngineJob = {
    task: job.task,
    input,
    organizationId,
    queue: options.queue ?? task?.queue ?? "default",
    delayMs: Math.ceil(options.delayMs ?? 0),
    maxAttempts: options.maxAttempts ?? task?.retries?.attempts ?? 1,
    concurrencyKey: key,
    exclusive: key !== null && task?.concurrency !== undefined && task.concurrency.exclusive !== false,
    supersedes: key !== null && (options.supersedes ?? task?.concurrency?.supersedes ?? false)
  }
  const wrong = wrongName("queue", made.queue) ??
    wrongNumber("delayMs", made.delayMs, [0, maxDelay]) ??
    wrongNumber("maxAttempts", made.maxAttempts, [1, 1_000_000]) ??
    (key === null ? undefined : wrongName("concurrencyKey", key))
  return wrong === undefined ? Result.succeed(made) : Result.fail(wrong)
}

const rowOf = (job: EngineJob): NewJobRow => ({
  id: newId(),
  organizationId: job.organizationId,
  queue: job.queue,
  taskSlug: job.task,
  input: JSON.stringify(job.input),
  maxAttempts: job.maxAttempts,
  delayMs: job.delayMs,
  concurrencyKey: job.concurrencyKey ?? "",
  exclusive: job.exclusive
})

const placeOf = ({ concurrencyKey, organizationId, taskSlug }: NewJobRow) =>
  JSON.stringify([organizationId, taskSlug, concurrencyKey])

/**
 * Of several jobs in one call that supersede each other, keep the last one, as if they had been enqueued in sequence.
 */
const remaining = (rows: ReadonlyArray<NewJobRow>, superseding: ReadonlyMap<string, NewJobRow>) =>
  rows.filter((row, index) => {
    const last = superseding.get(placeOf(row))
    return last === undefined || rows.indexOf(last) <= index
  })

/** The built-in queue, or the engine that replaces it. */
export const queuedJobsLayer = Layer.effect(
  Jobs,
  Effect.gen(function*() {
    const repo = yield* JobEnqueueRepo
    const tasks = yield* Tasks
    const jobNotifier = yield* JobNotifier
    const { engine } = yield* JobSettings

    const write = Effect.fnUntraced(function*(jobs: ReadonlyArray<EngineJob>) {
      const rows = jobs.map(rowOf)
      if (!jobs.some(({ supersedes }) => supersedes)) {
        yield* repo.insert(rows)
      } else {
        const superseding = new Map(
          rows.filter((_, index) => jobs[index]?.supersedes).map((row) => [placeOf(row), row])
        )
        const gone = yield* repo.replace([...superseding.values()], remaining(rows, superseding))
        if (gone.length > 0) yield* Effect.logInfo(`jobs superseded by newer ones: ${gone.join(", ")}`)
      }
      for (const queue of new Set(rows.map((row) => row.queue))) yield* jobNotifier.wake(queue)
      return rows.map(({ id }) => id)
    })

    const enqueueAll = Effect.fn("Jobs.enqueueAll")(function*(jobs: ReadonlyArray<NewJob>) {
      const made: Array<EngineJob> = []
      for (const job of jobs) {
        const one = prepared(tasks.find(job.task), job)
        if (Result.isFailure(one)) return yield* one.failure
        made.push(one.success)
      }
      if (made.length === 0) return []
      return yield* engine === undefined ? write(made) : askEngine(() => engine.enqueue(made))
    })

    return Jobs.of({
      enqueueAll,
      enqueue: (task, input, options) => Effect.map(enqueueAll([{ task, input, options }]), ([id]) => id ?? "")
    })
  })
)
