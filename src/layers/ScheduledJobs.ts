import { type Duration, Effect, Layer } from "effect"
import { Singleton } from "effect/cluster"
import { CartRepo } from "../domain/carts/CartRepo.ts"
import { HoldRepo } from "../domain/inventory/HoldRepo.ts"
import { countReservations } from "../domain/inventory/ReservationRepo.ts"
import { ListTotalsRepo } from "../domain/platform/paging/ListTotalsRepo.ts"
import { StoreSettings } from "../domain/platform/settings/StoreSettings.ts"
import { cartsPerRun } from "../workflows/checkout/AbandonedCheckouts.ts"
import { Captures, capturesPerRun } from "../workflows/checkout/Captures.ts"
import { Checkouts } from "../workflows/checkout/Checkouts.ts"
import { CollectedPayments } from "../workflows/payments/CollectedPayments.ts"
import { RefundSettlement, refundsPerRun } from "../workflows/payments/RefundSettlement.ts"
import { ordersPerRun, UnpaidOrders } from "../workflows/payments/UnpaidOrders.ts"
import { Statistics } from "./Statistics.ts"

export const everySafely =
  (name: string, pause: Duration.Input | ((count: number) => Duration.Input)) =>
  <E, R>(job: Effect.Effect<number, E, R>) =>
    job.pipe(
      Effect.tap((count) => count > 0 ? Effect.logDebug(`scheduled job ${name}: ${count}`) : Effect.void),
      Effect.catchCause((cause) => Effect.as(Effect.logWarning(`scheduled job ${name} failed`, cause), 0)),
      Effect.flatMap((count) => Effect.sleep(typeof pause === "function" ? pause(count) : pause)),
      Effect.forever
    )

const whileFull = <R>(job: Effect.Effect<number, never, R>, limit: number) =>
  Effect.repeat(job, { while: (count) => count >= limit })

/** Milliseconds. */
const betweenStarts = 20

/** Milliseconds. */
const longestPause = 5_000

const expiredHolds = Effect.gen(function*() {
  const holds = yield* HoldRepo
  const longest = Math.min(longestPause, (yield* StoreSettings).holdSeconds * 1_000)
  let next = 0
  const expire = whileFull(Effect.tap(holds.expireDue, (count) => countReservations("expired", count)), 500)
  const job = Effect.flatMap(holds.untilNextExpiry, (ms = Infinity) => {
    next = ms
    return ms > 0 ? Effect.succeed(0) : expire
  })
  return yield* job.pipe(everySafely("expired holds", () => Math.max(1_000, Math.min(longest, next))))
})

/**
 * Work that must not wait in a queue: expires holds, cancels unpaid orders, resumes refunds and captures. One process
 * of the deployment runs it. Retention is in `RetentionTasks.ts`.
 */
const scheduledJobs = Effect.gen(function*() {
  const captures = yield* Captures
  const carts = yield* CartRepo
  const collected = yield* CollectedPayments
  const { releaseStuck } = yield* Checkouts
  const refunds = yield* RefundSettlement
  const totals = yield* ListTotalsRepo
  const unpaid = yield* UnpaidOrders
  const statistics = yield* Statistics
  const all = [
    statistics.refresh.pipe(everySafely("statistics", (count) => count > 0 ? 1_000 : longestPause)),
    expiredHolds,
    whileFull(refunds.startDue, refundsPerRun).pipe(everySafely("abandoned refunds", "30 seconds")),
    whileFull(captures.startDue, capturesPerRun).pipe(everySafely("abandoned captures", "30 seconds")),
    whileFull(collected.returnDue(refundsPerRun), refundsPerRun).pipe(everySafely("unclaimed payments", "30 seconds")),
    whileFull(unpaid.cancelUnconfirmed, ordersPerRun).pipe(everySafely("unconfirmed orders", "30 seconds")),
    whileFull(carts.abandonExpired, 1000).pipe(everySafely("expired carts", "30 seconds")),
    whileFull(releaseStuck, cartsPerRun).pipe(everySafely("carts without a checkout", "5 minutes")),
    whileFull(totals.fold(5000), 5000).pipe(everySafely("totals of lists", "30 seconds"))
  ]
  yield* Effect.forEach(all, (job, index) => Effect.delay(job, index * betweenStarts), {
    concurrency: "unbounded",
    discard: true
  })
})

export const scheduledJobsLayer = Singleton.make("scheduled jobs", scheduledJobs)

/** In every process: the one with the scheduled jobs may be the one that died. */
export const checkoutTakeoverLayer = Layer.effectDiscard(
  Effect.flatMap(
    Checkouts,
    ({ takeOver }) => Effect.forkScoped(everySafely("abandoned checkouts", "2 seconds")(takeOver))
  )
)
