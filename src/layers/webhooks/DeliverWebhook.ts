import { Effect, Schema } from "effect"
import { defineTask, GiveUp, type Task } from "../../domain/jobs/Task.ts"
import { deliverTaskSlug, webhookQueue } from "../../domain/webhooks/DeliveryJob.ts"
import { WebhookSettings } from "../../domain/webhooks/WebhookSettings.ts"
import { Deliveries, DeliveryInput, deliveryRetries } from "./Deliveries.ts"

const decode = Schema.decodeUnknownEffect(DeliveryInput)

/**
 * The task `webhooks/deliver` (spec §2, contract, platform §9.3): one attempt a run. Jobs of one endpoint and record
 * never run at the same time, so that its events keep their order.
 */
export const deliverWebhook: Effect.Effect<Task, never, Deliveries | WebhookSettings> = Effect.gen(function*() {
  const deliveries = yield* Deliveries
  const { backoff } = yield* WebhookSettings
  return defineTask({
    slug: deliverTaskSlug,
    queue: webhookQueue,
    retries: deliveryRetries(backoff),
    concurrency: { key: ({ endpointId, entityId, entityType }) => `webhook:${endpointId}:${entityType}:${entityId}` },
    handler: Effect.fn("webhooks/deliver")(function*({ input, job: { attemptNumber, maxAttempts } }) {
      const decoded = yield* Effect.mapError(decode(input), ({ message }) => new GiveUp(message))
      return { output: yield* deliveries.run({ ...decoded, attemptNumber, maxAttempts }) }
    })
  })
})
