import { Context, Effect, Layer, Option, Schema } from "effect"
import { emittedTypes, type EventName, StoreEvent } from "./Event.ts"

export interface EventNotice {
  readonly organizationId: string
  /** Per organization from 1, without gaps. */
  readonly sequence: number
  readonly id: string
  readonly type: EventName
}

export const SequencedEvent = Schema.Struct({ organizationId: Schema.String, ...StoreEvent.fields })
export type SequencedEvent = typeof SequencedEvent.Type

/**
 * Handles each event once, in the transaction that assigns its sequence. It gets no records: most subscribers
 * ignore most events.
 */
export type EventSubscriber = (events: ReadonlyArray<EventNotice>) => Effect.Effect<void>

/**
 * Subscribers that the relay calls inside its transaction: a delivery enqueued there is neither lost nor duplicated.
 * They make no external calls.
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

  static readonly add = <E, R>(made: Effect.Effect<EventSubscriber, E, R>) =>
    Layer.effectDiscard(
      Effect.flatMap(made, (subscriber) => EventSubscribers.use(({ register }) => register(subscriber)))
    )
}

/** Names of the changes that are emitted; others are only audited. */
export class DeclaredEvents extends Context.Service<DeclaredEvents, {
  readonly names: ReadonlySet<string>
}>()("stoa/domain/platform/events/DeclaredEvents") {
  static readonly layerOf = (plugins: ReadonlyArray<{ readonly events: ReadonlyArray<string> }>) =>
    Layer.succeed(DeclaredEvents, {
      names: new Set<string>([...emittedTypes, ...plugins.flatMap(({ events }) => events)])
    })
}

export const announcedNames: Effect.Effect<ReadonlySet<string>> = Effect.map(
  Effect.serviceOption(DeclaredEvents),
  Option.match({ onNone: (): ReadonlySet<string> => new Set(emittedTypes), onSome: ({ names }) => names })
)
