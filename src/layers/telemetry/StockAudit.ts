import { Effect, Layer, Metric } from "effect"
import { StockAuditRepo } from "../../domain/inventory/StockAuditRepo.ts"
import { HealthContributors } from "../health/HealthContributors.ts"

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
