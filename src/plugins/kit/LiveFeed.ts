import { type Duration, Effect, Equal, Latch, Queue, type Scope, Stream } from "effect"
import { Unavailable } from "../../domain/platform/errors/ApiErrors.ts"

/** Which values a feed watches, and how they are read. */
export interface LiveFeedOptions<Owner, Value, R> {
  /** What an owner is known by. */
  readonly key: (owner: Owner) => string
  /** The values of these owners, of any organizations, by their keys: one statement. An owner without a value is left out. */
  readonly read: (owners: ReadonlyArray<Owner>) => Effect.Effect<ReadonlyMap<string, Value>, never, R>
  /** How often the owners that someone watches are read. */
  readonly every: Duration.Input
  /** Readers of this process, and of one key. Default 2,000 and 10. */
  readonly limits?: { readonly all: number; readonly ofKey: number }
}

/** Values that change, for those who watch them. */
export interface LiveFeed<Owner, Value> {
  /** The value at first and whenever it is another one, for as long as the scope; 503 where too many read. */
  readonly follow: (owner: Owner) => Effect.Effect<Stream.Stream<Value>, Unavailable, Scope.Scope>
}

interface Watched<Owner, Value> {
  readonly owner: Owner
  /** The readers, and what each has seen last. */
  readonly readers: Map<Queue.Queue<Value>, Value | undefined>
}

/**
 * A feed for the layer of a plugin. A process reads all owners that are watched together, whichever process changed them, and
 * nothing while there is no reader.
 */
export const liveFeed = Effect.fnUntraced(function*<Owner, Value, R>(
  { every, key, limits = { all: 2_000, ofKey: 10 }, read }: LiveFeedOptions<Owner, Value, R>
) {
  const services = yield* Effect.context<R>()
  const watched = new Map<string, Watched<Owner, Value>>()
  const isWatched = yield* Latch.make(false)
  let count = 0

  const inform = (owners: ReadonlyArray<Owner>) =>
    Effect.map(Effect.provideContext(read(owners), services), (values) => {
      for (const [of, value] of values) {
        const readers: Watched<Owner, Value>["readers"] = watched.get(of)?.readers ?? new Map()
        for (const [queue, before] of readers) {
          if (Equal.equals(before, value)) continue
          readers.set(queue, value)
          Queue.offerUnsafe(queue, value)
        }
      }
    })
  const look = Effect.suspend(() => inform(Array.from(watched.values(), ({ owner }) => owner))).pipe(
    Effect.catchCause((cause) => Effect.logWarning("what is watched could not be read", cause))
  )
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(isWatched.await, Effect.andThen(look, Effect.sleep(every)))))

  /** The place is taken before the first look-up, so that requests that arrive together count each other. */
  const take = Effect.fnUntraced(function*(owner: Owner) {
    const of = key(owner)
    const queue = yield* Queue.sliding<Value>(1)
    const own = watched.get(of) ?? { owner, readers: new Map() }
    if (count >= limits.all || own.readers.size >= limits.ofKey) return yield* Unavailable.of()
    watched.set(of, own)
    own.readers.set(queue, undefined)
    count += 1
    yield* Effect.addFinalizer(() => {
      count -= 1
      own.readers.delete(queue)
      if (own.readers.size === 0) watched.delete(of)
      return watched.size === 0 ? isWatched.close : Effect.void
    })
    return queue
  }, Effect.uninterruptible)

  const feed: LiveFeed<Owner, Value> = {
    follow: Effect.fnUntraced(function*(owner) {
      const queue = yield* take(owner)
      yield* inform([owner])
      yield* isWatched.open
      return Stream.fromQueue(queue)
    })
  }
  return feed
})
