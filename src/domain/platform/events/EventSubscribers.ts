import { Context, Effect, Layer, Option, Schema } from "effect"
import { type EventName, eventTypes, StoreEvent } from "./Event.ts"

/** An event and its position in the organization's stream. */
export interface EventNotice {
  readonly organizationId: string
  /** Starts at 1, without gaps, per organization. */
  readonly sequence: number
  /** UUID of the event; deliveries to other systems carry this id. */
  readonly id: string
  readonly type: EventName
}

export const SequencedEvent = Schema.Struct({ organizationId: Schema.String, ...StoreEvent.fields })
export type SequencedEvent = typeof SequencedEvent.Type

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
export class EventSubscribers
  extends Context.Service<EventSubscribers>()("stoa/domain/platform/events/EventSubscribers", {
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
  })
{
  static readonly layer = Layer.effect(EventSubscribers, EventSubscribers.make)

  /** Registers a subscriber that needs other services. */
  static readonly add = <E, R>(made: Effect.Effect<EventSubscriber, E, R>) =>
    Layer.effectDiscard(
      Effect.flatMap(made, (subscriber) => EventSubscribers.use(({ register }) => register(subscriber)))
    )
}

/** Names of the changes that are emitted as events: those of the core and of plugins. Other changes are only audited. */
export class DeclaredEvents extends Context.Service<DeclaredEvents, {
  readonly names: ReadonlySet<string>
}>()("stoa/domain/platform/events/DeclaredEvents") {
  static readonly layerOf = (plugins: ReadonlyArray<{ readonly events: ReadonlyArray<string> }>) =>
    Layer.succeed(DeclaredEvents, {
      names: new Set<string>([...eventTypes, ...plugins.flatMap(({ events }) => events)])
    })
}

/** The events of this process. Defaults to those of the core, for layers that tests build without plugins. */
export const announcedNames: Effect.Effect<ReadonlySet<string>> = Effect.map(
  Effect.serviceOption(DeclaredEvents),
  Option.match({ onNone: (): ReadonlySet<string> => new Set(eventTypes), onSome: ({ names }) => names })
)
