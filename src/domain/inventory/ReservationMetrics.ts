import { Effect, Metric } from "effect"

const reservations = Metric.counter("stoa_stock_reservations_total", {
  description: "Reservations of stock, by outcome: granted, refused for want of stock, expired before they were sold",
  incremental: true
})

const by = {
  granted: Metric.withAttributes(reservations, { outcome: "granted" }),
  refused: Metric.withAttributes(reservations, { outcome: "refused" }),
  expired: Metric.withAttributes(reservations, { outcome: "expired" })
}

/** Counts reservations by outcome in this process. Called once per batch, because every checkout passes here. */
export const countReservations = (outcome: keyof typeof by, count: number): Effect.Effect<void> =>
  count === 0 ? Effect.void : Metric.update(by[outcome], count)
