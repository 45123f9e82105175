import { Context, Effect, Layer } from "effect"
import type { EventName, Subject } from "./Event.ts"

/** That an event happened, and its place in the organization's stream. */
export interface EventNotice {
  readonly organizationId: string
  /** From 1, without gaps, in every organization by itself. */
  readonly sequence: number
  /** UUID of the event; whoever tells the world of it says this id. */
  readonly id: string
  readonly type: EventName
}

/** An event with what it tells. */
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
 * What is done with events, in the transaction that gives them their sequence: it happens once for each event. Most
 * events are wanted by nobody, so what they tell is left in the change log: a subscriber reads, or better copies by its own
 * statement, the records of those that it wants. A batch holds them to some megabytes.
 */
export type EventSubscriber = (events: ReadonlyArray<EventNotice>) => Effect.Effect<void>

/**
 * Who must hear of every event. The relay calls each of them with every batch, inside of its transaction, so that a
 * delivery that is enqueued there is neither lost nor doubled. A subscriber writes rows and calls nobody outside.
 */
export class EventSubscribers extends Context.Service<EventSubscribers, {
  readonly register: (subscriber: EventSubscriber) => Effect.Effect<void>
  readonly all: () => ReadonlyArray<EventSubscriber>
}>()("stoa/domain/events/EventSubscribers") {
  static readonly layer = Layer.sync(EventSubscribers, () => {
    const subscribers: Array<EventSubscriber> = []
    return {
      register: (subscriber: EventSubscriber) =>
        Effect.sync(() => {
          subscribers.push(subscriber)
        }),
      all: () => subscribers
    }
  })
}
