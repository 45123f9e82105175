import { Clock, Effect, Metric } from "effect"
import type { Settlement } from "./Job.ts"

const runs = Metric.counter("stoa_job_runs_total", {
  description: "Tries of jobs that ended in this process, by task and outcome: succeeded, retried or failed",
  incremental: true
})

const duration = Metric.histogram("stoa_job_duration_seconds", {
  description: "How long a try of a job took, by task",
  boundaries: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300]
})

const outcomes = { succeeded: "succeeded", pending: "retried", failed: "failed" } as const

/** The series of a task, made once: making one anew for every job would cost more than the job's own counting. */
const seriesOf = (task: string) => ({
  duration: Metric.withAttributes(duration, { task }),
  succeeded: Metric.withAttributes(runs, { task, outcome: outcomes.succeeded }),
  pending: Metric.withAttributes(runs, { task, outcome: outcomes.pending }),
  failed: Metric.withAttributes(runs, { task, outcome: outcomes.failed })
})

const known = new Map<string, ReturnType<typeof seriesOf>>()

const series = (task: string) => {
  const found = known.get(task) ?? seriesOf(task)
  known.set(task, found)
  return found
}

/** Counts a try of a registered task and how long it took; one that is cut off is no outcome. */
export const measured = (task: string, run: Effect.Effect<Settlement>): Effect.Effect<Settlement> =>
  Effect.gen(function*() {
    const begun = yield* Clock.currentTimeMillis
    const settlement = yield* run
    const of = series(task)
    yield* Metric.update(of.duration, ((yield* Clock.currentTimeMillis) - begun) / 1_000)
    yield* Metric.update(of[settlement.status], 1)
    return settlement
  })
