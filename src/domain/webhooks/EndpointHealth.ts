import { DateTime, Effect } from "effect"
import { WebhookDeliveryRepo } from "./WebhookDeliveryRepo.ts"
import type { WebhookEndpoint } from "./WebhookEndpoint.ts"
import type { DeliveryOutcome } from "./WebhookMetrics.ts"
import { WebhookSettings } from "./WebhookSettings.ts"

const dayMs = 24 * 3_600_000

/** Updates an endpoint's health after an attempt: since when it fails, and whether to switch it off. */
export const endpointHealth = Effect.gen(function*() {
  const deliveries = yield* WebhookDeliveryRepo
  const { disableAfterDays } = yield* WebhookSettings

  /** Whether the endpoint was switched off by this failure. */
  const failing = Effect.fnUntraced(function*(endpoint: WebhookEndpoint, outcome: DeliveryOutcome) {
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

  const succeeding = (endpoint: WebhookEndpoint) =>
    endpoint.failingSince === null ? Effect.void : deliveries.recovered(endpoint.id)

  return { failing, succeeding }
})
