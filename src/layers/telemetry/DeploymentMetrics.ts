import { Clock, Effect, Metric, Option } from "effect"
import { HealthRepo } from "../../domain/health/HealthRepo.ts"
import { type Assessment, Readiness } from "../../domain/health/Readiness.ts"
import { JobRecordRepo } from "../../domain/jobs/JobRecordRepo.ts"

const gauge = (name: string, description: string) => Metric.gauge(name, { description })

const check = gauge("stoa_readiness_check", "1: the check of readiness is ok, 0: it fails or could not be made")
const runners = gauge("stoa_cluster_runners_alive", "Runners of the deployment that are alive")
const shards = gauge("stoa_cluster_shards", "Shards of the deployment")
const owned = gauge("stoa_cluster_shards_owned", "Shards of the deployment that a living runner owns")
const oldest = gauge(
  "stoa_cluster_oldest_waiting_message_seconds",
  "How long the oldest message that is due has been waiting for a runner to take it; 0 when none waits"
)
const connections = gauge("stoa_database_connections", "Connections of the whole deployment, by pool and state")

const setReadiness = Effect.fnUntraced(function*({ checks, vitals }: Assessment) {
  for (const [name, { status }] of Object.entries(checks)) {
    yield* Metric.update(Metric.withAttributes(check, { check: name }), status === "ok" ? 1 : 0)
  }
  const now = yield* Clock.currentTimeMillis
  const found = Option.getOrUndefined(vitals)
  const waited = found?.waitingSince === undefined ? 0 : Math.max(0, now - found.waitingSince) / 1_000
  // A value that nobody knows is no zero: an alarm on it would stay silent.
  yield* Metric.update(runners, found?.runners.length ?? NaN)
  yield* Metric.update(shards, found?.shards.length ?? NaN)
  yield* Metric.update(owned, found?.owned.size ?? NaN)
  yield* Metric.update(oldest, found === undefined ? NaN : waited)
})

const depth = gauge("stoa_job_queue_depth", "Jobs of a queue that wait and are not kept by their key, up to 10,000")
const waiting = gauge(
  "stoa_job_queue_oldest_seconds",
  "How long the oldest job of a queue that may run has been waiting for a worker; 0 when none waits"
)

/** Queues by name; one that has nothing left stays, with 0. */
const jobQueues = Effect.gen(function*() {
  const repo = yield* JobRecordRepo
  const known = new Set<string>()
  const set = Effect.gen(function*() {
    const now = new Map((yield* repo.depths).map((found) => [found.queue, found]))
    for (const queue of now.keys()) known.add(queue)
    for (const queue of known) {
      const found = now.get(queue)
      yield* Metric.update(Metric.withAttributes(depth, { queue }), found?.pending ?? 0)
      yield* Metric.update(Metric.withAttributes(waiting, { queue }), found?.oldestSeconds ?? 0)
    }
  }).pipe(
    Effect.timeout("2 seconds"),
    // Metrics are written all the same when the database does not answer.
    Effect.catchCause((cause) => Effect.logDebug("the depth of the queues is unknown", cause))
  )
  return { set }
})

/** `read` brings what the database knows of the deployment into its metrics; three statements at most. */
export const deploymentMetrics = Effect.gen(function*() {
  const readiness = yield* Readiness
  const repo = yield* HealthRepo
  const queues = yield* jobQueues
  const known = new Map<string, ReturnType<typeof gauge>>()

  const setConnections = Effect.gen(function*() {
    const now = new Map((yield* repo.connections).map((found) => [`${found.pool} ${found.state}`, found]))
    for (const [key, { pool, state }] of now) {
      if (!known.has(key)) known.set(key, Metric.withAttributes(connections, { pool, state }))
    }
    for (const [key, metric] of known) yield* Metric.update(metric, now.get(key)?.count ?? 0)
  })

  return {
    read: Effect.all([Effect.flatMap(readiness.assess, setReadiness), setConnections, queues.set], { discard: true })
  }
})
