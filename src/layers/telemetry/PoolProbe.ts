import { Clock, Effect, Layer, Metric, Schedule } from "effect"
import { SqlClient } from "effect/sql"

/** How often a connection is asked for; each time costs a few microseconds and no statement. */
const interval = "100 millis"

const waits = Metric.histogram("stoa_database_pool_wait_seconds", {
  description: "Seconds that a request waits for a connection of the pool, asked ten times a second",
  boundaries: [0.0001, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
})

/**
 * Measures how long the pool keeps a request waiting, as one that stands in the same line: every tenth of a second it
 * takes a connection and gives it back at once. The driver lends connections inside of its statements and does not report
 * how long that took; to open every statement's lending would cost each of them more than it is worth.
 */
export const poolProbe = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const once = Effect.gen(function*() {
    const before = yield* Clock.currentTimeNanos
    yield* Effect.scoped(sql.reserve)
    yield* Metric.update(waits, Number((yield* Clock.currentTimeNanos) - before) / 1e9)
  })
  // Without a database there is nothing to wait for, and no reason to knock ten times a second.
  yield* Effect.catchCause(once, () => Effect.sleep("1 second")).pipe(
    Effect.repeat(Schedule.spaced(interval)),
    Effect.withTracerEnabled(false),
    Effect.forkScoped
  )
}))
