import { DateTime, Effect } from "effect"
import type { EventSubscriber, SequencedEvent } from "../events/EventSubscribers.ts"
import { Jobs } from "../jobs/Jobs.ts"
import type { NewJob } from "../jobs/NewJob.ts"
import type { Dispatch, WebhookMessage } from "./WebhookDispatch.ts"
import { WebhookDispatchRepo } from "./WebhookDispatchRepo.ts"
import { anyEvent, WebhookEvents } from "./WebhookEvents.ts"
import { webhookIdOf } from "./WebhookRows.ts"

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

/** The job of a dispatch. It names records and holds nothing of them: they are read when it runs. */
export const deliveryJob = ({ endpointId, entityId, entityType, eventId, organizationId }: Dispatch): NewJob => ({
  task: deliverTaskSlug,
  input: { endpointId, eventId, entityType, entityId },
  options: { organizationId, queue: webhookQueue }
})

const messageOf = (event: SequencedEvent): WebhookMessage => ({
  organizationId: event.organizationId,
  eventId: event.id,
  type: event.type,
  entityType: event.entityType,
  entityId: event.entityId,
  sequence: event.sequence,
  body: bodyOf({ id: webhookIdOf(event.id), type: event.type, at: event.createdAt, data: event.payload }),
  eventAt: event.createdAt
})

/**
 * Enqueues what the endpoints of each organization want of a batch of events, in the transaction of the relay: two
 * statements and one for the jobs, for any number of events and endpoints; one when nobody wants any of them.
 */
export const webhookSubscriber: Effect.Effect<EventSubscriber, never, WebhookDispatchRepo | WebhookEvents | Jobs> =
  Effect.gen(function*() {
    const repo = yield* WebhookDispatchRepo
    const { names } = yield* WebhookEvents
    const jobs = yield* Jobs

    return Effect.fn("webhookSubscriber")(function*(events: ReadonlyArray<SequencedEvent>) {
      const deliverable = events.filter(({ type }) => names.has(type))
      if (deliverable.length === 0) return
      const endpoints = yield* repo.wanting([...new Set(deliverable.map(({ organizationId }) => organizationId))])
      const wanted = deliverable.map((event) => ({
        event,
        by: endpoints.filter((endpoint) =>
          endpoint.organizationId === event.organizationId &&
          (endpoint.events.includes(event.type) || endpoint.events.includes(anyEvent))
        )
      })).filter(({ by }) => by.length > 0)
      if (wanted.length === 0) return
      const dispatches = wanted.flatMap(({ by, event }) =>
        by.map(({ endpointId }): Dispatch => ({
          organizationId: event.organizationId,
          endpointId,
          eventId: event.id,
          entityType: event.entityType,
          entityId: event.entityId
        }))
      )
      const now = DateTime.toDateUtc(yield* DateTime.now)
      const opened = yield* repo.open(wanted.map(({ event }) => messageOf(event)), dispatches, now)
      if (opened.length > 0) yield* Effect.catch(jobs.enqueueAll(opened.map(deliveryJob)), Effect.die)
    })
  })
