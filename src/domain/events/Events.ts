import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { announcedNames } from "./DeclaredEvents.ts"
import type { EventName } from "./Event.ts"
import { EventReadRepo } from "./EventReadRepo.ts"
import type { SequencedEvent } from "./EventSubscribers.ts"

/** The events to read: after a sequence, at most `limit`, of one type or of all. */
export interface EventQuery {
  readonly after: number
  readonly limit: number
  readonly type: EventName | undefined
}

/** Events and the cursor of the next page. */
export interface EventBatch {
  readonly events: ReadonlyArray<SequencedEvent>
  readonly next: number
}

/** The emitted events of an organization (spec §6, docs/events.md). */
export class Events extends Context.Service<Events, {
  /** Whether an event of this name exists. */
  readonly announces: (name: EventName) => boolean
  /** A batch, oldest first. The cursor is after all events that were read, including those of other types. */
  readonly list: (query: EventQuery) => Effect.Effect<EventBatch, never, CurrentActor>
}>()("stoa/domain/events/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.gen(function*() {
      const repo = yield* EventReadRepo
      const names = yield* announcedNames

      const list = Effect.fn("Events.list")(function*({ after, limit, type }: EventQuery) {
        // Read the newest sequence first: events that arrive meanwhile may be missing below and must not be skipped.
        const latest = type === undefined ? after : Math.max(after, yield* repo.latest)
        const events = yield* repo.after(after, limit, type)
        const last = events.at(-1)?.sequence ?? after
        return { events, next: events.length < limit ? Math.max(last, latest) : last }
      })

      return { announces: (name: EventName) => names.has(name), list }
    })
  )
}
