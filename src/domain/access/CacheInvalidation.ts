import { Clock, Context, Effect, Layer } from "effect"
import { type Dependency, InvalidatedCache } from "./InvalidatedCache.ts"

/**
 * Invalidates the caches of access tables and of rules that every checkout reads. The listener for trigger
 * notifications (`layers/access/AccessNotifications.ts`) calls `listen` and `forget`. Code that changes a row in this
 * process may call `forget` too, so that it does not wait for the notification.
 */
export class CacheInvalidation extends Context.Service<CacheInvalidation>()("stoa/domain/access/CacheInvalidation", {
  make: Effect.sync(() => {
    const caches: Array<Pick<InvalidatedCache<never>, "listen" | "forget" | "clear">> = []
    let heard = false
    return {
      /** Registers a cache for invalidation. */
      open: <A>(options: { readonly capacity: number; readonly lifeMs: number }) => {
        const cache = new InvalidatedCache<A>(options)
        cache.listen(heard)
        caches.push(cache)
        return cache
      },
      /** Whether this process receives notifications; nothing is cached while it does not. */
      listen: (listening: boolean) =>
        Effect.sync(() => {
          heard = listening
          for (const cache of caches) cache.listen(listening)
        }),
      /** Drops the cached values that depend on a change, named as in the triggers. */
      forget: (dependency: Dependency) =>
        Effect.sync(() => {
          for (const cache of caches) cache.forget(dependency)
        }),
      /** Reports many possible changes, which this process must see at once. */
      forgetAll: Effect.sync(() => {
        for (const cache of caches) cache.clear()
      })
    }
  })
}) {
  static readonly layer = Layer.effect(CacheInvalidation, CacheInvalidation.make)
}

/** The cached value, or the one that `read` gives, which is cached until the dependency changes. */
export const cachedOr = Effect.fnUntraced(function*<A, E, R>(
  cache: InvalidatedCache<A>,
  name: string,
  dependency: Dependency,
  read: Effect.Effect<A, E, R>
) {
  const now = yield* Clock.currentTimeMillis
  const cached = cache.find(name, now)
  if (cached !== undefined) return cached
  const since = cache.changes
  const found = yield* read
  cache.keep(name, found, [dependency], now, since)
  return found
})
