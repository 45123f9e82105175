import { Clock, Context, Effect, Metric } from "effect"
import type { Settlement } from "./Job.ts"

const outcomes = { succeeded: "succeeded", pending: "retried", failed: "failed" } as const

const runsOf = (task: string, outcome: string) =>
  Metric.counter("stoa_job_runs_total", {
    description: "Tries of jobs that ended in this process, by task and outcome: succeeded, retried or failed",
    incremental: true,
    attributes: { task, outcome }
  })

/**
 * The metrics of a task, created once with fixed attributes: passing attributes on every update rebuilds the metric's
 * key, which costs more than the rest of an empty job.
 */
const seriesOf = (task: string) => ({
  duration: Metric.histogram("stoa_job_duration_seconds", {
    description: "How long a try of a job took, by task",
    boundaries: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300],
    attributes: { task }
  }),
  succeeded: runsOf(task, outcomes.succeeded),
  pending: runsOf(task, outcomes.pending),
  failed: runsOf(task, outcomes.failed)
})

const known = new Map<string, ReturnType<typeof seriesOf>>()

const series = (task: string) => {
  const found = known.get(task) ?? seriesOf(task)
  known.set(task, found)
  return found
}

/** Counts a try of a registered task and how long it took; one that is cut off is no outcome. */
export const measured = (task: string, run: Effect.Effect<Settlement>): Effect.Effect<Settlement> =>
  Effect.contextWith((services: Context.Context<never>) => {
    const clock = Context.get(services, Clock.Clock)
    const begun = clock.currentTimeMillisUnsafe()
    return Effect.map(run, (settlement) => {
      const of = series(task)
      of.duration.updateUnsafe((clock.currentTimeMillisUnsafe() - begun) / 1_000, services)
      of[settlement.status].updateUnsafe(1, services)
      return settlement
    })
  })
