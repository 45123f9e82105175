import { Effect, Metric } from "effect"
import { JobRecordRepo, type QueueDepth } from "../../domain/jobs/JobRecordRepo.ts"
import type { Check } from "../../http/health/HealthApi.ts"
import { HealthContributors } from "../health/HealthContributors.ts"

const depth = Metric.gauge("stoa_job_queue_depth", {
  description: "Jobs of a queue that wait and are not kept by their key, up to 10,000"
})
const waiting = Metric.gauge("stoa_job_queue_oldest_seconds", {
  description: "How long the oldest job of a queue that may run has been waiting for a worker; 0 when none waits"
})

/**
 * Longest a due job may wait before the deployment calls itself unready, in seconds. A rush of jobs is no fault, so this
 * is long; alarms that should come earlier read the gauge.
 */
const longestWait = 300

const judged = (queues: ReadonlyArray<QueueDepth>): Check => {
  const late = queues.filter(({ oldestSeconds }) => oldestSeconds > longestWait)
  return late.length === 0 ? { status: "ok" } : {
    status: "failing",
    message: `Jobs have been waiting for more than ${longestWait} s in: ${late.map(({ queue }) => queue).join(", ")}.`
  }
}

/** Tells operators how the job queues are: with readiness and with the metrics. */
export const jobQueues = HealthContributors.add(
  Effect.map(JobRecordRepo, ({ depths }) => {
    const known = new Set<string>()
    return {
      name: "jobs",
      check: Effect.map(depths, judged),
      metrics: Effect.gen(function*() {
        const now = new Map((yield* depths).map((found) => [found.queue, found]))
        for (const queue of now.keys()) known.add(queue)
        // A queue that has nothing left stays, with 0.
        for (const queue of known) {
          const found = now.get(queue)
          yield* Metric.update(Metric.withAttributes(depth, { queue }), found?.pending ?? 0)
          yield* Metric.update(Metric.withAttributes(waiting, { queue }), found?.oldestSeconds ?? 0)
        }
      }).pipe(Effect.withTracerEnabled(false))
    }
  })
)
