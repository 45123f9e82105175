import { DateTime, Effect } from "effect"
import { announcedNames } from "../../domain/events/DeclaredEvents.ts"
import type { EventNotice, EventSubscriber } from "../../domain/events/EventSubscribers.ts"
import { Jobs } from "../../domain/jobs/Jobs.ts"
import { deliveryJob } from "../../domain/webhooks/DeliveryJob.ts"
import { anyEvent } from "../../domain/webhooks/WebhookEndpoint.ts"
import { WebhookDispatchRepo } from "./WebhookDispatchRepo.ts"

/**
 * Enqueues the deliveries of a batch of events in the relay's transaction: two statements and one for the jobs, for any
 * number of events and endpoints. Without interested endpoints it is one statement and reads no record.
 */
export const webhookSubscriber: Effect.Effect<EventSubscriber, never, WebhookDispatchRepo | Jobs> = Effect.gen(
  function*() {
    const repo = yield* WebhookDispatchRepo
    const names = yield* announcedNames
    const jobs = yield* Jobs

    return Effect.fn("webhookSubscriber")(function*(events: ReadonlyArray<EventNotice>) {
      const deliverable = events.filter(({ type }) => names.has(type))
      if (deliverable.length === 0) return
      const endpoints = yield* repo.subscriptions([...new Set(deliverable.map((event) => event.organizationId))])
      const subscribed = deliverable.map(({ id, organizationId, type }) => ({
        eventId: id,
        endpointIds: endpoints.filter((endpoint) =>
          endpoint.organizationId === organizationId &&
          (endpoint.events.includes(type) || endpoint.events.includes(anyEvent))
        ).map(({ endpointId }) => endpointId)
      })).filter(({ endpointIds }) => endpointIds.length > 0)
      if (subscribed.length === 0) return
      const opened = yield* repo.open(subscribed, DateTime.toDateUtc(yield* DateTime.now))
      if (opened.length > 0) yield* Effect.catch(jobs.enqueueAll(opened.map(deliveryJob)), Effect.die)
    })
  }
)
