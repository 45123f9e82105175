import { Context, Effect, Latch, Layer, Queue, Stream } from "effect"
import { type CustomerId, PluginContext, Unavailable } from "stoa/plugin"
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
  /** The readers, and what each has seen last. */
  readonly readers: Map<Queue.Queue<Unread>, Unread | undefined>
}

const isSame = (a: Unread | undefined, b: Unread): boolean => a?.unread === b.unread && a.latest === b.latest

/**
 * Tells who watches an inbox what is unread in it: at first, and when that changes. A process sends one statement for all
 * inboxes that are watched, whichever process delivered into them, and none while there is no reader.
 */
export class InboxFeed extends Context.Service<InboxFeed>()("stoa/plugins/notifications/InboxFeed", {
  make: Effect.gen(function*() {
    const { db } = yield* PluginContext
    const inboxes = new Map<string, Watched>()
    const watched = yield* Latch.make(false)
    let count = 0

    const inform = (owners: ReadonlyArray<InboxOwner>) =>
      Effect.gen(function*() {
        for (const found of yield* unreadOf(db, owners)) {
          const readers: Watched["readers"] = inboxes.get(found.customerId)?.readers ?? new Map()
          for (const [queue, before] of readers) {
            if (isSame(before, found)) continue
            readers.set(queue, found)
            Queue.offerUnsafe(queue, found)
          }
        }
      })
    const look = Effect.suspend(() => inform([...inboxes.values()])).pipe(
      Effect.catchCause((cause) => Effect.logWarning("inboxes could not be read", cause))
    )
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(watched.await, Effect.andThen(look, Effect.sleep(every)))))

    /** The place is taken before the first look-up, so that requests that arrive together count each other. */
    const take = Effect.fnUntraced(function*(owner: InboxOwner) {
      const queue = yield* Queue.sliding<Unread>(1)
      const inbox = inboxes.get(owner.customerId) ?? { ...owner, readers: new Map() }
      if (count >= limits.all || inbox.readers.size >= limits.ofCustomer) return yield* Unavailable.of()
      inboxes.set(owner.customerId, inbox)
      inbox.readers.set(queue, undefined)
      count += 1
      yield* Effect.addFinalizer(() => {
        count -= 1
        inbox.readers.delete(queue)
        if (inbox.readers.size === 0) inboxes.delete(owner.customerId)
        return inboxes.size === 0 ? watched.close : Effect.void
      })
      return queue
    }, Effect.uninterruptible)

    return {
      /** What is unread of an inbox, for as long as the request; 503 where too many read. */
      follow: Effect.fnUntraced(function*(owner: InboxOwner) {
        const queue = yield* take(owner)
        yield* inform([owner])
        yield* watched.open
        return Stream.fromQueue(queue)
      })
    }
  })
}) {
  static readonly layer = Layer.effect(InboxFeed, InboxFeed.make)
}
