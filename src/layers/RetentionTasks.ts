import { Effect, Layer } from "effect"
import { AuthRepo } from "../domain/auth/AuthRepo.ts"
import { CartRepo } from "../domain/carts/CartRepo.ts"
import { RevisionRepo } from "../domain/catalog/revisions/RevisionRepo.ts"
import { HoldRepo } from "../domain/inventory/HoldRepo.ts"
import { Media } from "../domain/media/Media.ts"
import { CollectedPaymentRepo } from "../domain/payments/CollectedPaymentRepo.ts"
import { PaymentEventRepo } from "../domain/payments/PaymentEventRepo.ts"
import { EventRepo } from "../domain/platform/events/EventRepo.ts"
import { IdempotencyKeys } from "../domain/platform/idempotency/IdempotencyKeys.ts"
import { defineTask, purgeTask, Tasks } from "../domain/platform/tasks/Task.ts"
import { WebhookDeliveryRepo } from "../domain/webhooks/WebhookRepo.ts"
import { ClusterRetention } from "./cluster/ClusterRetention.ts"
import { AppConfig } from "./config/AppConfig.ts"
import { RateLimitRepo } from "./ratelimits/RateLimitRepo.ts"
import { Deliveries } from "./webhooks/Deliveries.ts"

const rows = 1000

const purging = <E>(name: string, purge: Effect.Effect<number, E>) => purgeTask(name, rows, purge)

/** Purges what must not grow forever, as scheduled tasks. */
export const retentionTasks = Layer.effectDiscard(Effect.gen(function*() {
  const tasks = yield* Tasks
  const [carts, holds, keys, provider] = yield* Effect.all([CartRepo, HoldRepo, IdempotencyKeys, PaymentEventRepo])
  const [changeLog, cluster, webhooks, log] = yield* Effect.all([
    EventRepo,
    ClusterRetention,
    Deliveries,
    WebhookDeliveryRepo
  ])
  const limits = yield* RateLimitRepo
  const collected = yield* CollectedPaymentRepo
  const revisions = yield* RevisionRepo
  const auth = yield* AuthRepo
  const media = yield* Media
  const { changeLog: { keepDays }, retention: days, webhooks: { retentionDays } } = (yield* AppConfig).deployment
  const messages = cluster.purge({ window: `${days.idempotencyHours} hours` }).pipe(
    Effect.map(({ messages, more, replies }) => more ? Math.max(rows, messages + replies) : messages + replies)
  )
  yield* Effect.forEach(
    [
      purging("carts", carts.purgeEnded(days.cartDays)),
      purging("holds", holds.purgeEnded(days.holdDays)),
      purging("idempotency-keys", keys.purge(days.idempotencyHours)),
      purging("provider-events", provider.purge(days.providerEventDays)),
      purging("collected-payments", collected.purge(days.providerEventDays)),
      purging("change-log", keepDays === 0 ? Effect.succeed(0) : changeLog.purge(rows, keepDays)),
      purging("cluster-messages", messages),
      purging("webhook-deliveries", log.purge(retentionDays, rows)),
      purging("revisions", revisions.purge(rows, days.revisionDays)),
      purging("rate-limits", limits.purge(rows)),
      purging("sessions", auth.purgeSessions(rows)),
      purging("media-files", media.removeFiles(rows)),
      purging("verifications", auth.purgeVerifications(rows)),
      defineTask({
        slug: "webhooks/revive",
        schedule: "*/10 * * * *",
        handler: () => Effect.map(webhooks.revive, (revived) => ({ output: { revived } }))
      })
    ],
    (task) => tasks.register(task),
    { discard: true }
  )
}))
