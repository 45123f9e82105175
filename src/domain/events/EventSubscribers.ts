import { Context, Effect, Layer } from "effect"
import type { EventName, Subject } from "./Event.ts"

/** An event and its position in the organization's stream. */
export interface EventNotice {
  readonly organizationId: string
  /** Starts at 1, without gaps, per organization. */
  readonly sequence: number
  /** UUID of the event; deliveries to other systems carry this id. */
  readonly id: string
  readonly type: EventName
}

/** An event with its record. */
export interface SequencedEvent extends EventNotice {
  readonly entityType: Subject
  readonly entityId: string
  /** The record after the change, as the API shows it; without secrets. */
  readonly payload: object
  readonly createdAt: Date
  readonly actorId: string | null
  readonly requestId: string | null
}

/**
 * Handles events in the transaction that assigns their sequence, so that each event is handled once. Most subscribers
 * ignore most events, so records stay in the change log: a subscriber reads, or better copies in one statement, the
 * records it needs. A batch limits them to a few megabytes.
 */
export type EventSubscriber = (events: ReadonlyArray<EventNotice>) => Effect.Effect<void>

/**
 * The subscribers of every event. The relay calls each with every batch inside its transaction, so that a delivery
 * enqueued there is neither lost nor duplicated. A subscriber only writes rows and makes no external calls.
 */
export class EventSubscribers extends Context.Service<EventSubscribers>()("stoa/domain/events/EventSubscribers", {
  make: Effect.sync(() => {
    const subscribers: Array<EventSubscriber> = []
    return {
      register: (subscriber: EventSubscriber) =>
        Effect.sync(() => {
          subscribers.push(subscriber)
        }),
      all: (): ReadonlyArray<EventSubscriber> => subscribers
    }
  })
}) {
  static readonly layer = Layer.effect(EventSubscribers, EventSubscribers.make)
}
