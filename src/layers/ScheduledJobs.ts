import { Effect, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { CartRepo } from "../domain/carts/CartRepo.ts"
import { HoldRepo } from "../domain/inventory/HoldRepo.ts"
import { countReservations } from "../domain/inventory/ReservationMetrics.ts"
import { Captures, capturesPerRun } from "../workflows/checkout/Captures.ts"
import { RefundSettlement, refundsPerRun } from "../workflows/payments/RefundSettlement.ts"
import { ordersPerRun, UnpaidOrders } from "../workflows/payments/UnpaidOrders.ts"
import { Statistics } from "./Statistics.ts"

/** A failed sweep, whatever it failed with, is told and tried again at its next turn; it never ends the others. */
export const everySafely =
  (name: string, interval: "1 second" | "30 seconds") => <E, R>(sweep: Effect.Effect<number, E, R>) =>
    sweep.pipe(
      Effect.tap((count) => count > 0 ? Effect.logDebug(`sweep ${name}: ${count}`) : Effect.void),
      Effect.catchCause((cause) => Effect.logWarning(`sweep ${name} failed`, cause)),
      Effect.repeat(Schedule.spaced(interval)),
      Effect.asVoid
    )

/** A sweep that stopped at its limit goes on at once: a thousand holds may run out in the same second. */
const whileFull = <R>(sweep: Effect.Effect<number, never, R>, limit: number) =>
  Effect.repeat(sweep, { while: (count) => count >= limit })

/** Between the starts of two sweeps, in ms. */
const betweenStarts = 20

/**
 * What must not wait for a turn in a queue: stock held for nobody goes back within a second of its time, orders that
 * nobody pays for end, abandoned refunds and captures are taken up. One process of the deployment does it, another one when it dies.
 * What must not grow for ever has scheduled tasks (`RetentionTasks.ts`).
 */
const scheduledJobs = Effect.gen(function*() {
  const captures = yield* Captures
  const carts = yield* CartRepo
  const holds = yield* HoldRepo
  const refunds = yield* RefundSettlement
  const unpaid = yield* UnpaidOrders
  const statistics = yield* Statistics
  const all = [
    statistics.refresh.pipe(everySafely("statistics", "1 second")),
    whileFull(Effect.tap(holds.expireDue, (count) => countReservations("expired", count)), 500).pipe(
      everySafely("expired holds", "1 second")
    ),
    whileFull(refunds.startDue, refundsPerRun).pipe(everySafely("abandoned refunds", "30 seconds")),
    whileFull(captures.startDue, capturesPerRun).pipe(everySafely("abandoned captures", "30 seconds")),
    whileFull(unpaid.cancelUnconfirmed, ordersPerRun).pipe(everySafely("unconfirmed orders", "30 seconds")),
    whileFull(carts.abandonExpired, 1000).pipe(everySafely("expired carts", "30 seconds"))
  ]
  // Begun one after the other: the first statements of all at once would open a connection for each.
  yield* Effect.forEach(all, (sweep, index) => Effect.delay(sweep, index * betweenStarts), {
    concurrency: "unbounded",
    discard: true
  })
})

export const scheduledJobsLayer = Singleton.make("sweeps", scheduledJobs)
