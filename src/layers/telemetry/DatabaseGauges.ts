import { Clock, Effect, Layer, Metric, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { StockAuditRepo } from "../../domain/inventory/StockAuditRepo.ts"
import { JobRecordRepo, type QueueDepth } from "../../domain/platform/jobs/JobRecordRepo.ts"
import type { Check } from "../../http/health/HealthApi.ts"
import { HealthContributors } from "../health/HealthContributors.ts"
import { HealthRepo, healthRepoLayer } from "../health/HealthRepo.ts"

const oversold = Metric.gauge("stoa_stock_oversold_levels", {
  description: "Stock levels with more reserved than on hand without permission to oversell; anything but 0 is a fault"
})
const unbacked = Metric.gauge("stoa_stock_unbacked_levels", {
  description: "Stock levels with less reserved than the newest holds hold of them; anything but 0 is a fault"
})

export const stockAudit = HealthContributors.add(
  Effect.map(StockAuditRepo, (repo) => ({
    name: "stock",
    metrics: Effect.gen(function*() {
      // Not 0: an alarm on an unknown value would stay silent.
      yield* Effect.all([Metric.update(oversold, NaN), Metric.update(unbacked, NaN)])
      const found = yield* repo.audit
      yield* Effect.all([Metric.update(oversold, found.oversold), Metric.update(unbacked, found.unbacked)])
    }).pipe(Effect.withTracerEnabled(false))
  }))
).pipe(Layer.provide(StockAuditRepo.layer))

const waiting = Metric.gauge("stoa_outbox_waiting", {
  description: "Entries of the change log that have no place yet, at most 10,000"
})
const oldest = Metric.gauge("stoa_outbox_oldest_waiting_seconds", {
  description: "How long the oldest entry without a place has waited"
})

export const relayLag = HealthContributors.add(
  Effect.map(HealthRepo, (repo) => ({
    name: "change-log",
    metrics: Effect.gen(function*() {
      const lag = yield* repo.relayLag
      // Not 0: an alarm on an unknown value would stay silent.
      yield* Metric.update(waiting, lag?.waiting ?? NaN)
      yield* Metric.update(oldest, lag?.seconds ?? NaN)
    }).pipe(Effect.withTracerEnabled(false))
  }))
).pipe(Layer.provide(healthRepoLayer))

const depth = Metric.gauge("stoa_job_queue_depth", {
  description: "Jobs of a queue that wait and are not kept by their key, up to 10,000"
})
const oldestJob = Metric.gauge("stoa_job_queue_oldest_seconds", {
  description: "How long the oldest job of a queue that may run has been waiting for a worker; 0 when none waits"
})

/** Seconds. Long, since a rush of jobs is no fault; earlier alarms read the gauge. */
const longestWait = 300

const judged = (queues: ReadonlyArray<QueueDepth>): Check => {
  const late = queues.filter(({ oldestSeconds }) => oldestSeconds > longestWait)
  return late.length === 0 ? { status: "ok" } : {
    status: "failing",
    message: `Jobs have been waiting for more than ${longestWait} s in: ${late.map(({ queue }) => queue).join(", ")}.`
  }
}

export const jobQueues = HealthContributors.add(
  Effect.map(JobRecordRepo, ({ depths }) => {
    const known = new Set<string>()
    return {
      name: "jobs",
      check: Effect.map(depths, judged),
      metrics: Effect.gen(function*() {
        const now = new Map((yield* depths).map((found) => [found.queue, found]))
        for (const queue of now.keys()) known.add(queue)
        for (const queue of known) {
          const found = now.get(queue)
          yield* Metric.update(Metric.withAttributes(depth, { queue }), found?.pending ?? 0)
          yield* Metric.update(Metric.withAttributes(oldestJob, { queue }), found?.oldestSeconds ?? 0)
        }
      }).pipe(Effect.withTracerEnabled(false))
    }
  })
)

const interval = "500 millis"

const waits = Metric.histogram("stoa_database_pool_wait_seconds", {
  description: "Seconds that a request waits for a connection of the pool, asked twice a second",
  boundaries: [0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
})

/**
 * Measures the pool's waiting time: twice a second it waits for a connection and returns it at once. The driver does
 * not report waits inside its statements, and measuring every statement costs too much.
 */
export const poolProbe = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const once = Effect.gen(function*() {
    const before = yield* Clock.currentTimeNanos
    yield* Effect.scoped(sql.reserve)
    yield* Metric.update(waits, Number((yield* Clock.currentTimeNanos) - before) / 1e9)
  })
  yield* Effect.catchCause(once, () => Effect.sleep("1 second")).pipe(
    Effect.repeat(Schedule.spaced(interval)),
    Effect.withTracerEnabled(false),
    Effect.forkScoped
  )
}))
