import { Effect, Layer, Metric } from "effect"
import { StockAuditRepo } from "../../domain/inventory/StockRepo.ts"
import { HealthContributors } from "../health/HealthContributors.ts"
import { HealthRepo, healthRepoLayer } from "../health/HealthRepo.ts"

const oversold = Metric.gauge("stoa_stock_oversold_levels", {
  description: "Stock levels with more reserved than on hand without permission to oversell; anything but 0 is a fault"
})
const unbacked = Metric.gauge("stoa_stock_unbacked_levels", {
  description: "Stock levels with less reserved than the newest holds hold of them; anything but 0 is a fault"
})

/** Tells with the metrics whether stock was promised twice. */
export const stockAudit = HealthContributors.add(
  Effect.map(StockAuditRepo, (repo) => ({
    name: "stock",
    metrics: Effect.gen(function*() {
      // An unknown value is no zero: an alarm on it would stay silent.
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
