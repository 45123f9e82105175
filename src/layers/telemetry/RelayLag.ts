import { Effect, Layer, Metric } from "effect"
import { HealthContributors } from "../health/HealthContributors.ts"
import { HealthRepo, healthRepoLayer } from "../health/HealthRepo.ts"

const waiting = Metric.gauge("stoa_outbox_waiting", {
  description: "Entries of the change log that have no place yet, at most 10,000"
})
const oldest = Metric.gauge("stoa_outbox_oldest_waiting_seconds", {
  description: "How long the oldest entry without a place has waited"
})

/** Tells with the metrics how far the relay of events is behind. */
export const relayLag = HealthContributors.add(
  Effect.map(HealthRepo, (repo) => ({
    name: "change-log",
    metrics: Effect.gen(function*() {
      const lag = yield* repo.relayLag
      // An unknown value is no zero: an alarm on it would stay silent.
      yield* Metric.update(waiting, lag?.waiting ?? NaN)
      yield* Metric.update(oldest, lag?.seconds ?? NaN)
    }).pipe(Effect.withTracerEnabled(false))
  }))
).pipe(Layer.provide(healthRepoLayer))
