import { DateTime, Effect } from "effect"
import type { EventNotice, EventSubscriber } from "../events/EventSubscribers.ts"
import { Jobs, type NewJob } from "../jobs/Jobs.ts"
import type { Dispatch } from "./WebhookDispatch.ts"
import { WebhookDispatchRepo } from "./WebhookDispatchRepo.ts"
import { anyEvent, WebhookEvents } from "./WebhookEvents.ts"

/** Slug of the task that delivers (spec §2), and its queue (contract, platform §9.3). */
export const deliverTaskSlug = "webhooks/deliver"
export const webhookQueue = "webhooks"

/** The body of a delivery (contract, platform §9.2). */
export const bodyOf = (message: {
  readonly id: string
  readonly type: string
  readonly at: Date
  readonly data: object
}): string =>
  JSON.stringify({ id: message.id, type: message.type, timestamp: message.at.toISOString(), data: message.data })

/** The job of a dispatch. It holds ids only; the records are read when it runs. */
export const deliveryJob = ({ endpointId, entityId, entityType, eventId, organizationId }: Dispatch): NewJob => ({
  task: deliverTaskSlug,
  input: { endpointId, eventId, entityType, entityId },
  options: { organizationId, queue: webhookQueue }
})

/**
 * Enqueues the deliveries of a batch of events in the relay's transaction: two statements and one for the jobs, for any
 * number of events and endpoints. Without interested endpoints it is one statement and reads no record.
 */
export const webhookSubscriber: Effect.Effect<EventSubscriber, never, WebhookDispatchRepo | WebhookEvents | Jobs> =
  Effect.gen(function*() {
    const repo = yield* WebhookDispatchRepo
    const { names } = yield* WebhookEvents
    const jobs = yield* Jobs

    return Effect.fn("webhookSubscriber")(function*(events: ReadonlyArray<EventNotice>) {
      const deliverable = events.filter(({ type }) => names.has(type))
      if (deliverable.length === 0) return
      const endpoints = yield* repo.wanting([...new Set(deliverable.map(({ organizationId }) => organizationId))])
      const wanted = deliverable.map(({ id, organizationId, type }) => ({
        eventId: id,
        endpointIds: endpoints.filter((endpoint) =>
          endpoint.organizationId === organizationId &&
          (endpoint.events.includes(type) || endpoint.events.includes(anyEvent))
        ).map(({ endpointId }) => endpointId)
      })).filter(({ endpointIds }) => endpointIds.length > 0)
      if (wanted.length === 0) return
      const opened = yield* repo.open(wanted, DateTime.toDateUtc(yield* DateTime.now))
      if (opened.length > 0) yield* Effect.catch(jobs.enqueueAll(opened.map(deliveryJob)), Effect.die)
    })
  })
