import { Effect, Schema } from "effect"
import { defineTask, GiveUp, type Task } from "../../domain/jobs/Task.ts"
import { Deliveries } from "../../domain/webhooks/Deliveries.ts"
import { deliveryRetries } from "../../domain/webhooks/WebhookRetries.ts"
import { WebhookSettings } from "../../domain/webhooks/WebhookSettings.ts"
import { deliverTaskSlug, webhookQueue } from "../../domain/webhooks/WebhookSubscriber.ts"

/** Input of a delivery: ids of records without content. Additions must be optional, because jobs outlive versions. */
const DeliveryInput = Schema.Struct({
  endpointId: Schema.String,
  eventId: Schema.String,
  entityType: Schema.String,
  entityId: Schema.String,
  redelivery: Schema.optional(Schema.Boolean),
  postponed: Schema.optional(Schema.Int)
})

const decode = Schema.decodeUnknownEffect(DeliveryInput)

/**
 * The task `webhooks/deliver` (spec §2, contract, platform §9.3): one attempt a run. Jobs of one endpoint and record
 * never run at the same time, so that its events keep their order.
 */
export const deliverWebhook: Effect.Effect<Task, never, Deliveries | WebhookSettings> = Effect.map(
  Effect.all([Deliveries, WebhookSettings]),
  ([deliveries, { backoff }]) =>
    defineTask({
      slug: deliverTaskSlug,
      queue: webhookQueue,
      retries: deliveryRetries(backoff),
      concurrency: { key: ({ endpointId, entityId, entityType }) => `webhook:${endpointId}:${entityType}:${entityId}` },
      handler: Effect.fn("webhooks/deliver")(function*({ input, job }) {
        const { endpointId, eventId, postponed, redelivery } = yield* decode(input).pipe(
          Effect.mapError(({ message }) => new GiveUp(message))
        )
        const output = yield* deliveries.run({
          endpointId,
          eventId,
          redelivery: redelivery ?? false,
          postponed: postponed ?? 0,
          attemptNumber: job.attemptNumber,
          maxAttempts: job.maxAttempts
        })
        return { output }
      })
    })
)
