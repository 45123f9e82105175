import { Context, Effect, Layer } from "effect"
import { announcedNames } from "./DeclaredEvents.ts"
import type { EventName } from "./Event.ts"
import { EventReadRepo } from "./EventReadRepo.ts"

/** The events to read: after a sequence, at most `limit`, of one type or of all. */
export interface EventQuery {
  readonly after: number
  readonly limit: number
  readonly type: EventName | undefined
}

/** The emitted events of an organization (spec §6, docs/events.md). */
export class Events extends Context.Service<Events>()("stoa/domain/events/Events", {
  make: Effect.gen(function*() {
    const repo = yield* EventReadRepo
    const names = yield* announcedNames

    /**
     * A batch, oldest first, and the cursor of the next one, which is after all events that were read, including those
     * of other types.
     */
    const list = Effect.fn("Events.list")(function*({ after, limit, type }: EventQuery) {
      // Read the newest sequence first: events that arrive meanwhile may be missing below and must not be skipped.
      const latest = type === undefined ? after : Math.max(after, yield* repo.latest)
      const events = yield* repo.after(after, limit, type)
      const last = events.at(-1)?.sequence ?? after
      return { events, next: events.length < limit ? Math.max(last, latest) : last }
    })

    return {
      /** Whether an event of this name exists. */
      announces: (name: EventName) => names.has(name),
      list
    }
  })
}) {
  static readonly layer = Layer.effect(Events, Events.make)
}
