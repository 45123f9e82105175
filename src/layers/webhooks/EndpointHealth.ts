import { DateTime, Effect, Metric } from "effect"
import { WebhookDeliveryRepo } from "../../domain/webhooks/WebhookDeliveryRepo.ts"
import type { WebhookEndpoint } from "../../domain/webhooks/WebhookEndpoint.ts"
import type { AttemptResult } from "../../domain/webhooks/WebhookSender.ts"
import { WebhookSettings } from "../../domain/webhooks/WebhookSettings.ts"

/** Outcome of an attempt: `refused` by the guard before any connection, `gone` with 410. */
type DeliveryOutcome = "delivered" | "failed" | "refused" | "gone"

export const outcomeOf = ({ error, isRefused, statusCode }: AttemptResult): DeliveryOutcome =>
  error === null ? "delivered" : isRefused ? "refused" : statusCode === 410 ? "gone" : "failed"

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

const dayMs = 24 * 3_600_000

/** Updates an endpoint's health after an attempt. Returns whether this failure switched the endpoint off. */
export const endpointHealth = Effect.gen(function*() {
  const deliveries = yield* WebhookDeliveryRepo
  const { disableAfterDays } = yield* WebhookSettings

  return Effect.fnUntraced(function*(endpoint: WebhookEndpoint, outcome: DeliveryOutcome) {
    if (outcome === "delivered") {
      if (endpoint.failingSince !== null) yield* deliveries.recovered(endpoint.id)
      return false
    }
    const at = DateTime.toDateUtc(yield* DateTime.now)
    const since = yield* deliveries.failed(endpoint.id, at)
    const forDays = since !== undefined && at.getTime() - since.getTime() >= disableAfterDays * dayMs
    if (outcome !== "gone" && !forDays) return false
    // Another process may have switched the endpoint off or changed its address; the next attempt reads that.
    if (!(yield* deliveries.disable(endpoint, outcome === "gone" ? "gone" : "failing", at))) return false
    const why = outcome === "gone" ? "answered 410" : `has failed for ${disableAfterDays} days`
    yield* Effect.logWarning(`webhook endpoint ${endpoint.id} ${why} and is switched off`)
    return true
  })
})
