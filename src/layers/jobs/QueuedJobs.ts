import { Clock, Context, Cron, Effect, Layer, Result } from "effect"
import { v5 } from "uuid"
import { invalid } from "../../domain/platform/errors/ErrorKinds.ts"
import { JobId, newId, nilId } from "../../domain/platform/ids/Id.ts"
import { InvalidSchedule, Jobs, type NewJob } from "../../domain/platform/jobs/Jobs.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { askEngine, defaultQueue, type EngineJob, JobSettings } from "../../domain/platform/tasks/JobSettings.ts"
import { type Task, Tasks } from "../../domain/platform/tasks/Task.ts"
import { isStorableObject } from "../../domain/platform/text/Storable.ts"
import { JobNotifier } from "./JobNotifier.ts"
import { JobQueueRepo, SchedulerTickRepo } from "./JobQueueRepo.ts"

const maxNameLength = 255

const maxDelay = 100 * 365 * 86_400_000

class InvalidJob extends invalid("Job", (path: string, _: string) => path, (_: string, text: string) => text) {}

const wrongName = (path: string, text: string) =>
  text.length >= 1 && text.length <= maxNameLength && text.isWellFormed() && !text.includes("\0")
    ? undefined
    : new InvalidJob(path, `must have 1 to ${maxNameLength} characters.`)

const wrongNumber = (path: string, value: number, [least, most]: readonly [number, number]) =>
  Number.isInteger(value) && value >= least && value <= most
    ? undefined
    : new InvalidJob(path, `must be a whole number from ${least} to ${most}.`)

const keyOf = (task: Task | undefined, { input, options }: NewJob): string | null | InvalidJob => {
  try {
    return options.concurrencyKey ?? task?.concurrency?.key(input) ?? null
  } catch (error) {
    return new InvalidJob("input", `input must give the key of the task: ${String(error)}.`)
  }
}

/**
 * Applies the task's policies under the caller's options (spec §2, enqueue options). A plain function: it runs for
 * thousands of jobs at once.
 */
const prepared = (task: Task | undefined, job: NewJob): EngineJob | InvalidJob => {
  const { input, options } = job
  const organizationId = options.organizationId.trim()
  const unnamed = wrongName("organizationId", organizationId) ?? wrongName("task", job.task)
  if (unnamed !== undefined) return unnamed
  if (!isStorableObject(input)) return new InvalidJob("input", "must be a JSON object.")
  const key = keyOf(task, job)
  if (key instanceof InvalidJob) return key
  const made: EngineJob = {
    task: job.task,
    input,
    organizationId,
    queue: options.queue ?? task?.queue ?? defaultQueue,
    delayMs: Math.ceil(options.delayMs ?? 0),
    maxAttempts: options.maxAttempts ?? task?.retries?.attempts ?? 1,
    concurrencyKey: key,
    exclusive: key !== null && task?.concurrency !== undefined && task.concurrency.exclusive !== false,
    supersedes: key !== null && (options.supersedes ?? task?.concurrency?.supersedes ?? false),
    idempotencyKey: options.idempotencyKey ?? null
  }
  return wrongName("queue", made.queue) ??
    wrongNumber("delayMs", made.delayMs, [0, maxDelay]) ??
    wrongNumber("maxAttempts", made.maxAttempts, [1, 1_000_000]) ??
    (key === null ? undefined : wrongName("concurrencyKey", key)) ??
    made
}

/** One id per idempotency key: the table keeps the first job. */
const idOf = ({ idempotencyKey, organizationId, task }: EngineJob): string =>
  idempotencyKey === null ? newId() : v5(JSON.stringify([organizationId, task, idempotencyKey]), v5.URL)

const placeOf = ({ concurrencyKey, organizationId, task }: EngineJob) =>
  JSON.stringify([organizationId, task, concurrencyKey])

export const queuedJobsLayer = Layer.effect(
  Jobs,
  Effect.gen(function*() {
    const repo = yield* JobQueueRepo
    const tasks = yield* Tasks
    const jobNotifier = yield* JobNotifier
    const { engine } = yield* JobSettings

    const write = Effect.fnUntraced(function*(jobs: ReadonlyArray<EngineJob>) {
      const rows = jobs.map((job) => ({ ...job, id: idOf(job) }))
      const superseding = new Map(rows.filter(({ supersedes }) => supersedes).map((row) => [placeOf(row), row]))
      if (superseding.size === 0) {
        yield* repo.insert(rows)
      } else {
        // Of jobs that supersede each other keep the last, as if enqueued in sequence.
        const remaining = rows.filter((row, index) => {
          const last = superseding.get(placeOf(row))
          return last === undefined || rows.indexOf(last) <= index
        })
        const gone = yield* repo.replace([...superseding.values()], remaining)
        if (gone.length > 0) yield* Effect.logInfo(`jobs superseded by newer ones: ${gone.join(", ")}`)
      }
      for (const queue of new Set(rows.map((row) => row.queue))) yield* jobNotifier.wake(queue)
      return rows.map(({ id }) => id)
    })

    const enqueueAll = Effect.fn("Jobs.enqueueAll")(function*(jobs: ReadonlyArray<NewJob>) {
      const made: Array<EngineJob> = []
      for (const job of jobs) {
        const one = prepared(tasks.find(job.task), job)
        if (one instanceof InvalidJob) return yield* one
        made.push(one)
      }
      if (made.length === 0) return []
      const ids = yield* engine === undefined ? write(made) : askEngine(() => engine.enqueue(made))
      return ids.map((id) => JobId.make(id))
    })

    return Jobs.of({
      enqueueAll,
      enqueue: (task, input, options) =>
        Effect.map(enqueueAll([{ task, input, options }]), ([id]) => id ?? JobId.make(nilId))
    })
  })
)

/** Timers of a machine that slept fire late. */
const longestWait = 30_000

const organizationsAtOnce = 1_000

interface Scheduled {
  readonly slug: string
  readonly everyOrganization: boolean
  readonly cron: Cron.Cron
  /** Milliseconds. */
  done: number
}

const lastTick = (cron: Cron.Cron, now: number) => Cron.prev(cron, new Date(now + 1))

const enqueueForAll = Effect.fnUntraced(
  function*(ticks: SchedulerTickRepo["Service"], jobs: Jobs["Service"], task: string) {
    for (let after = "", more = true; more;) {
      const page = yield* ticks.organizations(task, after, organizationsAtOnce)
      yield* jobs.enqueueAll(page.map((organizationId) => ({ task, input: {}, options: { organizationId } })))
      after = page.at(-1) ?? after
      more = page.length === organizationsAtOnce
    }
  }
)

const refuseIdle = (tasks: ReadonlyArray<Task>) => {
  const idle = tasks.find(({ everyOrganization, schedule }) => everyOrganization === true && schedule === undefined)
  return idle === undefined
    ? Effect.void
    : Effect.fail(
      new InvalidSchedule({ message: `The task '${idle.slug}' is for every organization and has no schedule.` })
    )
}

/**
 * Turns ticks into jobs, each once in the deployment: job and mark are one transaction. Every runner tries. Of ticks
 * missed in an outage, or while the machine slept, only the last runs.
 */
export class JobSchedules extends Context.Service<JobSchedules>()("stoa/layers/jobs/JobSchedules", {
  make: Effect.gen(function*() {
    const tasks = yield* Tasks
    const ticks = yield* SchedulerTickRepo
    const jobs = yield* Jobs
    const { defaultOrganizationId: organizationId } = yield* StoreSettings

    const scheduled = yield* Effect.cached(Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const all = tasks.all().flatMap(({ everyOrganization = false, schedule, slug }) =>
        schedule === undefined ? [] : [{ everyOrganization, schedule, slug }]
      )
      yield* refuseIdle(tasks.all())
      const last = yield* ticks.last(all.map(({ slug }) => slug))
      return yield* Effect.forEach(all, ({ everyOrganization, schedule, slug }) => {
        const cron = Cron.parse(schedule, "UTC")
        if (Result.isFailure(cron)) {
          const message = `The task '${slug}' has the schedule '${schedule}', which is no cron expression.`
          return Effect.fail(new InvalidSchedule({ message }))
        }
        const of: Scheduled = { slug, everyOrganization, cron: cron.success, done: last.get(slug)?.getTime() ?? now }
        return Effect.succeed(of)
      })
    }))

    const enqueueTick = Effect.fnUntraced(function*(of: Scheduled) {
      const tick = lastTick(of.cron, yield* Clock.currentTimeMillis)
      if (tick.getTime() <= of.done) return false
      const work = of.everyOrganization
        ? enqueueForAll(ticks, jobs, of.slug)
        : Effect.asVoid(jobs.enqueue(of.slug, {}, { organizationId }))
      const isMine = yield* ticks.once(of.slug, tick, Effect.as(Effect.catch(work, Effect.die), true))
      of.done = tick.getTime()
      return isMine === true
    })

    const enqueueDue = Effect.gen(function*() {
      const enqueued = yield* Effect.forEach(yield* scheduled, enqueueTick)
      return enqueued.filter(Boolean).length
    }).pipe(Effect.withSpan("JobSchedules.enqueueDue"))

    const untilNext = Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const next = (yield* scheduled).map(({ cron, done }) => Cron.next(cron, new Date(done)).getTime() - now)
      return Math.max(1, Math.min(longestWait, ...next))
    })

    const turn = Effect.gen(function*() {
      yield* Effect.catchDefect(
        Effect.asVoid(enqueueDue),
        (defect) => Effect.andThen(Effect.logWarning("schedules could not be looked at", defect), Effect.sleep(1_000))
      )
      yield* Effect.sleep(yield* untilNext)
    })
    return {
      enqueueDue,
      run: Effect.forever(turn)
    }
  })
}) {
  static readonly layer = Layer.effect(JobSchedules, JobSchedules.make)
}

/** Runs schedules in every process that drives the queues. An invalid schedule ends the start. */
export const schedulesLayer = Layer.effectDiscard(
  Effect.gen(function*() {
    const schedules = yield* JobSchedules
    const { autorun, engine } = yield* JobSettings
    if (!autorun && engine === undefined) return
    yield* schedules.enqueueDue
    yield* Effect.forkScoped(schedules.run)
  })
)
