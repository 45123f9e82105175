import { Context, Effect, Latch, Layer, Queue, Stream } from "effect"
import { type CustomerId, PluginHost, Unavailable } from "stoa/plugin"
import { type Unread, unreadOf } from "./MessagesRepo.ts"

/** How often the inboxes that someone watches are looked at. */
const every = "2 seconds"

/** Streams of this process, and of one customer. */
const limits = { all: 2_000, ofCustomer: 10 }

/** Whose inbox is watched. */
export interface InboxOwner {
  readonly organizationId: string
  readonly customerId: CustomerId
}

interface Watched extends InboxOwner {
  readonly readers: Set<Queue.Queue<Unread>>
  /** What the readers saw last. */
  seen: Unread | undefined
}

const isSame = (a: Unread | undefined, b: Unread): boolean => a?.unread === b.unread && a.latest === b.latest

/**
 * Tells who watches an inbox what is unread in it: at first, and when that changes. A process sends one statement for all
 * inboxes that are watched, whichever process delivered into them, and none while there is no reader.
 */
export class InboxFeed extends Context.Service<InboxFeed>()("stoa/plugins/notifications/InboxFeed", {
  make: Effect.gen(function*() {
    const { db } = yield* PluginHost
    const inboxes = new Map<string, Watched>()
    const watched = yield* Latch.make(false)
    let readers = 0

    const look = Effect.gen(function*() {
      for (const found of yield* unreadOf(db, [...inboxes.values()])) {
        const inbox = inboxes.get(found.customerId)
        if (inbox === undefined || isSame(inbox.seen, found)) continue
        inbox.seen = found
        for (const queue of inbox.readers) Queue.offerUnsafe(queue, found)
      }
    }).pipe(Effect.catchCause((cause) => Effect.logWarning("inboxes could not be read", cause)))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(watched.await, Effect.andThen(look, Effect.sleep(every)))))

    const register = Effect.fnUntraced(function*(owner: InboxOwner) {
      const queue = yield* Queue.sliding<Unread>(1)
      const [now] = yield* unreadOf(db, [owner])
      if (now !== undefined) Queue.offerUnsafe(queue, now)
      const inbox = inboxes.get(owner.customerId) ?? { ...owner, readers: new Set(), seen: now }
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          inboxes.set(owner.customerId, inbox)
          inbox.readers.add(queue)
          readers += 1
        }),
        () => {
          readers -= 1
          inbox.readers.delete(queue)
          if (inbox.readers.size === 0) inboxes.delete(owner.customerId)
          return inboxes.size === 0 ? watched.close : Effect.void
        }
      )
      yield* watched.open
      return Stream.fromQueue(queue)
    })

    return {
      /** What is unread of an inbox, until its reader ends; 503 where too many read. */
      follow: (owner: InboxOwner) =>
        readers >= limits.all || (inboxes.get(owner.customerId)?.readers.size ?? 0) >= limits.ofCustomer
          ? Effect.fail(Unavailable.of())
          : Effect.succeed(Stream.unwrap(register(owner)))
    }
  })
}) {
  static readonly layer = Layer.effect(InboxFeed, InboxFeed.make)
}
