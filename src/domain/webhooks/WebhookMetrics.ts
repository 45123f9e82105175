import { Effect, Metric } from "effect"

/** Outcome of an attempt: `refused` by the guard before any connection, `gone` with 410. */
export type DeliveryOutcome = "delivered" | "failed" | "refused" | "gone"

const attempts = Metric.counter("stoa_webhook_attempts_total", {
  description: "Attempts to deliver an event to a webhook endpoint, by outcome",
  incremental: true
})

const durations = Metric.histogram("stoa_webhook_attempt_duration_seconds", {
  description: "Seconds that an attempt took, the look-up of the host included",
  boundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

const lag = Metric.histogram("stoa_webhook_lag_seconds", {
  description: "Seconds from an event to the first attempt to deliver it",
  boundaries: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600]
})

/** Counts an attempt; `lagMs` is given for the first one of its event. */
export const countAttempt = Effect.fnUntraced(
  function*(outcome: DeliveryOutcome, durationMs: number, lagMs: number | undefined) {
    yield* Metric.update(Metric.withAttributes(attempts, { outcome }), 1)
    yield* Metric.update(durations, durationMs / 1000)
    if (lagMs !== undefined) yield* Metric.update(lag, Math.max(0, lagMs) / 1000)
  }
)
