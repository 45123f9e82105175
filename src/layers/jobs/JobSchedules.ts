import { Clock, Context, Cron, Effect, Layer, Result, Schema } from "effect"
import { ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import { InvalidSchedule, Jobs } from "../../domain/jobs/Jobs.ts"
import { JobSettings } from "../../domain/jobs/JobSettings.ts"
import { Tasks } from "../../domain/jobs/Task.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { SchedulerTickRepo } from "./JobEnqueueRepo.ts"

/** Ticks missed for longer are skipped. */
const forgottenMs = 86_400_000

/** Maximum number of ticks of one task to catch up on; a process frozen for longer continues with the newest. */
const maxTicks = 100

/** Maximum wait between two checks: timers of a machine that slept fire late. */
const longestWait = 30_000

interface Scheduled {
  readonly slug: string
  readonly cron: Cron.Cron
  /** The last tick that is done, in ms. */
  done: number
}

/** Ticks after one time up to another, oldest first. */
const ticksBetween = (cron: Cron.Cron, after: number, until: number): ReadonlyArray<Date> => {
  const ticks: Array<Date> = []
  for (let tick = Cron.next(cron, new Date(after)); tick.getTime() <= until; tick = Cron.next(cron, tick)) {
    ticks.push(tick)
    if (ticks.length > maxTicks) ticks.shift()
  }
  return ticks
}

/**
 * Turns schedule ticks into jobs, each once in the complete deployment: the job is written in the transaction that
 * records the tick as done. Every runner tries, so no tick depends on one process. Of the ticks missed during an
 * outage, only the last one runs.
 */
export class JobSchedules extends Context.Service<JobSchedules>()("stoa/layers/jobs/JobSchedules", {
  make: Effect.gen(function*() {
    const tasks = yield* Tasks
    const ticks = yield* SchedulerTickRepo
    const jobs = yield* Jobs
    const { defaultOrganizationId: organizationId } = yield* StoreSettings

    /** The position of a schedule: its last tick, or, if others passed since, just before the newest of them. */
    const standing = (cron: Cron.Cron, last: Date | undefined, now: number) => {
      if (last === undefined) return now
      const missed = ticksBetween(cron, Math.max(last.getTime(), now - forgottenMs), now)
      return (missed.at(-2) ?? last).getTime()
    }

    // Tasks are registered during startup, so all of them exist at the first call.
    const scheduled = yield* Effect.cached(Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const all = tasks.all().flatMap(({ schedule, slug }) => schedule === undefined ? [] : [{ schedule, slug }])
      const last = yield* ticks.last(all.map(({ slug }) => slug))
      return yield* Effect.forEach(all, ({ schedule, slug }) => {
        const cron = Cron.parse(schedule, "UTC")
        if (Result.isFailure(cron)) {
          const message = `The task '${slug}' has the schedule '${schedule}', which is no cron expression.`
          return Effect.fail(new InvalidSchedule({ message }))
        }
        const of: Scheduled = { slug, cron: cron.success, done: standing(cron.success, last.get(slug), now) }
        return Effect.succeed(of)
      })
    }))

    const enqueueTicks = Effect.fnUntraced(function*(of: Scheduled) {
      let count = 0
      for (const tick of ticksBetween(of.cron, of.done, yield* Clock.currentTimeMillis)) {
        const work = Effect.catchIf(
          jobs.enqueue(of.slug, {}, { organizationId }),
          Schema.is(ValidationFailed),
          (error) => Effect.die(error)
        )
        if ((yield* ticks.once(of.slug, tick, work)) !== undefined) count++
        of.done = tick.getTime()
      }
      return count
    })

    const enqueueDue = Effect.gen(function*() {
      const counts = yield* Effect.forEach(yield* scheduled, enqueueTicks)
      return counts.reduce((sum, count) => sum + count, 0)
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
      /** Enqueues due jobs and returns their number. */
      enqueueDue,
      /** Enqueues due jobs at each tick, forever. */
      run: Effect.forever(turn)
    }
  })
}) {
  static readonly layer = Layer.effect(JobSchedules, JobSchedules.make)
}

/** Turns ticks of schedules into jobs in every process that drives the queues. A wrong schedule ends the start. */
export const schedulesLayer = Layer.effectDiscard(
  Effect.gen(function*() {
    const schedules = yield* JobSchedules
    const { autorun, engine } = yield* JobSettings
    if (!autorun && engine === undefined) return
    yield* schedules.enqueueDue
    yield* Effect.forkScoped(schedules.run)
  })
)
