import { Cause, Context, Effect, Latch, Layer, Queue, Stream } from "effect"
import { CurrentActor } from "../access/Actor.ts"
import { Unavailable } from "../errors/ApiErrors.ts"
import type { EventName } from "./Event.ts"
import { EventRepo } from "./EventRepo.ts"
import { announcedNames, type SequencedEvent } from "./EventSubscribers.ts"

/** The emitted events of an organization (spec §6). */
export class Events extends Context.Service<Events>()("stoa/domain/platform/events/Events", {
  make: Effect.gen(function*() {
    const repo = yield* EventRepo
    const names = yield* announcedNames

    /** A batch, oldest first, and the cursor after all events that were read, also of other types. */
    const list = Effect.fn("Events.list")(function*(
      { after, limit, type }: { readonly after: number; readonly limit: number; readonly type?: EventName | undefined }
    ) {
      // Read it first: events that arrive meanwhile must not be skipped.
      const latest = type === undefined ? after : Math.max(after, yield* repo.latest)
      const events = yield* repo.after(after, limit, type)
      const last = events.at(-1)?.sequence ?? after
      return { events, next: events.length < limit ? Math.max(last, latest) : last }
    })

    return {
      announces: (name: EventName) => names.has(name),
      list
    }
  })
}) {
  static readonly layer = Layer.effect(Events, Events.make)
}

export interface TailerLimits {
  readonly readers: number
  /** Maximum queued events of a reader, who reads the rest from the database. */
  readonly buffer: number
}

const usual: TailerLimits = { readers: 500, buffer: 256 }

const rest = "50 millis"

const pageSize = 200

type Reader = Queue.Queue<SequencedEvent, Cause.Done>

interface Tail {
  cursor: number
  readonly queues: Set<Reader>
}

const spread = (tails: ReadonlyMap<string, Tail>, events: ReadonlyArray<SequencedEvent>) => {
  for (const event of events) {
    const tail = tails.get(event.organizationId)
    if (tail === undefined) continue
    tail.cursor = Math.max(tail.cursor, event.sequence)
    for (const queue of tail.queues) Queue.offerUnsafe(queue, event)
  }
}

const contiguous = (cursor: number, events: ReadonlyArray<SequencedEvent>): ReadonlyArray<SequencedEvent> => {
  const fresh = events.filter(({ sequence }) => sequence > cursor)
  const gap = fresh.findIndex(({ sequence }, index) => sequence !== cursor + 1 + index)
  return gap === -1 ? fresh : fresh.slice(0, gap)
}

const pullFrom = (
  repo: EventRepo["Service"],
  isEnded: () => boolean,
  start: number,
  { queue, tail }: { readonly queue: Reader; readonly tail: Tail }
) => {
  let cursor = start
  let live = false
  const fromDatabase = Effect.gen(function*() {
    const seen = tail.cursor
    const found = yield* repo.after(cursor, pageSize)
    cursor = found.at(-1)?.sequence ?? cursor
    if (found.length < pageSize) cursor = Math.max(cursor, seen)
    return found
  })
  const fromQueue = Effect.map(Queue.takeAll(queue), (found) => {
    const next = contiguous(cursor, found)
    cursor = next.at(-1)?.sequence ?? cursor
    return next
  })
  return Effect.gen(function*() {
    for (;;) {
      if (isEnded()) return yield* Cause.done()
      const [first, ...others] = yield* (live ? fromQueue : fromDatabase)
      live = cursor >= tail.cursor
      if (first !== undefined) return [first, ...others] as const
    }
  })
}

/** Follows the events for all readers of this process with one statement per read. */
export class EventTailer extends Context.Service<EventTailer>()("stoa/domain/platform/events/EventTailer", {
  make: Effect.fnUntraced(function*({ buffer, readers }: TailerLimits) {
    const repo = yield* EventRepo
    const tails = new Map<string, Tail>()
    const listened = yield* Latch.make(false)
    let admitted = 0
    let ended = false

    const look = Effect.gen(function*() {
      const cursors = [...tails].map(([organizationId, { cursor: after }]) => ({ organizationId, after }))
      const found = yield* repo.afterAll(cursors, pageSize)
      spread(tails, found)
      if (found.length < pageSize) yield* Effect.sleep(rest)
    })
    yield* Effect.forkScoped(Effect.forever(
      Effect.andThen(listened.await, look).pipe(
        Effect.catchCause((cause) =>
          Effect.andThen(Effect.logWarning("events could not be read", cause), Effect.sleep("1 second"))
        )
      )
    ))

    const register = Effect.fnUntraced(function*(organization: string) {
      const queue = yield* Queue.dropping<SequencedEvent, Cause.Done>(buffer)
      const latest = yield* repo.latest
      const tail = tails.get(organization) ?? { cursor: latest, queues: new Set() }
      tails.set(organization, tail)
      tail.queues.add(queue)
      if (ended) Queue.endUnsafe(queue)
      yield* listened.open
      yield* Effect.addFinalizer(() => {
        tail.queues.delete(queue)
        if (tail.queues.size === 0) tails.delete(organization)
        return tails.size === 0 ? listened.close : Effect.void
      })
      return { queue, tail }
    })

    /** Streams events in order and without gaps until shutdown. 503 beyond the limit of readers or during shutdown. */
    const follow = Effect.fnUntraced(function*(after: number) {
      const actor = yield* CurrentActor
      if (ended || admitted >= readers) return yield* Effect.fail(Unavailable.of())
      return Stream.unwrap(Effect.gen(function*() {
        admitted += 1
        yield* Effect.addFinalizer(() => Effect.sync(() => void (admitted -= 1)))
        return Stream.fromPull(
          Effect.succeed(pullFrom(repo, () => ended, after, yield* register(actor.organizationId)))
        )
      })).pipe(Stream.provideService(CurrentActor, actor))
    })

    /** Ends all streams after their queued events; admits no new ones. */
    const end = Effect.sync(() => {
      ended = true
      for (const { queues } of tails.values()) for (const queue of queues) Queue.endUnsafe(queue)
    })

    return { follow, end }
  })
}) {
  static readonly layerOf = (limits: Partial<TailerLimits> = {}) =>
    Layer.effect(EventTailer, EventTailer.make({ ...usual, ...limits }))
}
