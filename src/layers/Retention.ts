import { Effect, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { CartRepo } from "../domain/carts/CartRepo.ts"
import { JournalPurgeRepo } from "../domain/events/JournalPurgeRepo.ts"
import { IdempotencyKeys } from "../domain/idempotency/IdempotencyKeys.ts"
import { HoldRepo } from "../domain/inventory/HoldRepo.ts"
import { countReservations } from "../domain/inventory/ReservationMetrics.ts"
import { PaymentEventRepo } from "../domain/payments/PaymentEventRepo.ts"
import { StoreSettings } from "../domain/settings/StoreSettings.ts"
import { Deliveries } from "../domain/webhooks/Deliveries.ts"
import { WebhookDeliveryRepo } from "../domain/webhooks/WebhookDeliveryRepo.ts"
import { WebhookSettings } from "../domain/webhooks/WebhookSettings.ts"
import { RefundSettlement, refundsPerSweep } from "../workflows/payments/RefundSettlement.ts"
import { ordersPerSweep, UnconfirmedOrders } from "../workflows/payments/UnconfirmedOrders.ts"
import { ClusterRetention } from "./cluster/ClusterRetention.ts"
import { Statistics } from "./Statistics.ts"

/** Carts and holds that ended stay this long, for whoever has to look what happened. */
const endedDays = 30

/** Provider events are remembered this long: no provider repeats one after a month. */
const eventDays = 90

/** A failed sweep, whatever it failed with, is told and tried again at its next turn; it never ends the others. */
export const everySafely =
  (name: string, interval: "1 second" | "30 seconds" | "10 minutes") => <E, R>(sweep: Effect.Effect<number, E, R>) =>
    sweep.pipe(
      Effect.tap((count) => count > 0 ? Effect.logDebug(`sweep ${name}: ${count}`) : Effect.void),
      Effect.catchCause((cause) => Effect.logWarning(`sweep ${name} failed`, cause)),
      Effect.repeat(Schedule.spaced(interval)),
      Effect.asVoid
    )

/** A sweep that stopped at its limit goes on at once: a thousand holds may run out in the same second. */
const whileFull = <R>(sweep: Effect.Effect<number, never, R>, limit: number) =>
  Effect.repeat(sweep, { while: (count) => count >= limit })

/**
 * What must not stay: stock held for nobody goes back within a second of its time, orders that nobody pays for end,
 * abandoned refunds are taken up, and nothing grows for ever (ARCHITECTURE invariant 7). One process of the deployment does it, another one when it dies.
 */
const sweeps = Effect.gen(function*() {
  const carts = yield* CartRepo
  const events = yield* PaymentEventRepo
  const holds = yield* HoldRepo
  const keys = yield* IdempotencyKeys
  const refunds = yield* RefundSettlement
  const unconfirmed = yield* UnconfirmedOrders
  const cluster = yield* ClusterRetention
  const statistics = yield* Statistics
  const webhooks = yield* Deliveries
  const webhookLog = yield* WebhookDeliveryRepo
  const { retentionDays } = yield* WebhookSettings
  const journal = yield* JournalPurgeRepo
  const { idempotencyHours, journalDays } = yield* StoreSettings
  yield* Effect.all([
    statistics.refresh.pipe(everySafely("statistics", "1 second")),
    whileFull(Effect.tap(holds.expireDue, (count) => countReservations("expired", count)), 500).pipe(
      everySafely("expired holds", "1 second")
    ),
    whileFull(refunds.sweep, refundsPerSweep).pipe(everySafely("abandoned refunds", "30 seconds")),
    whileFull(unconfirmed.sweep, ordersPerSweep).pipe(everySafely("unconfirmed orders", "30 seconds")),
    whileFull(carts.abandonExpired, 1000).pipe(everySafely("expired carts", "30 seconds")),
    whileFull(carts.purgeEnded(endedDays), 1000).pipe(everySafely("ended carts", "10 minutes")),
    whileFull(holds.purgeEnded(endedDays), 1000).pipe(everySafely("ended holds", "10 minutes")),
    whileFull(keys.purge(idempotencyHours), 1000).pipe(everySafely("idempotency keys", "10 minutes")),
    whileFull(events.purge(eventDays), 1000).pipe(everySafely("provider events", "10 minutes")),
    whileFull(webhooks.revive, 500).pipe(everySafely("lost webhook deliveries", "10 minutes")),
    whileFull(webhookLog.purge(retentionDays, 1000), 1000).pipe(everySafely("webhook deliveries", "10 minutes")),
    ...(journalDays === 0
      ? []
      : [whileFull(journal.purge(1000, journalDays), 1000).pipe(everySafely("journal", "10 minutes"))]),
    cluster.sweep({ window: `${idempotencyHours} hours` }).pipe(
      Effect.repeat({ while: ({ more }) => more }),
      Effect.map(({ messages, replies }) => messages + replies),
      everySafely("cluster messages", "10 minutes")
    )
  ], { concurrency: "unbounded", discard: true })
})

export const retentionLayer = Singleton.make("retention", sweeps)
