import { Context, Effect, Layer } from "effect"
import { type Dependency, InvalidatedCache } from "./InvalidatedCache.ts"

/**
 * All that a process remembers of the tables of access, and of rules that every checkout reads. Whoever listens for the notifications of their triggers
 * (`layers/access/AccessNotifications.ts`) calls `listen` and `forget`; what changed something in this process may call
 * `forget` too, so as not to wait for its own notification.
 */
export class CacheInvalidation extends Context.Service<CacheInvalidation, {
  /** A cache that is told of changes from now on. */
  readonly open: <A>(options: { readonly capacity: number; readonly lifeMs: number }) => InvalidatedCache<A>
  /** Whether this process hears of changes from now on; nothing is remembered while it does not. */
  readonly listen: (listening: boolean) => Effect.Effect<void>
  /** Something changed, named as the triggers name it; what depends on it is read anew. */
  readonly forget: (dependency: Dependency) => Effect.Effect<void>
  /** Much may have changed, and this process shall know it at once. */
  readonly forgetAll: Effect.Effect<void>
}>()("stoa/domain/access/CacheInvalidation") {
  static readonly layer = Layer.sync(CacheInvalidation, () => {
    const caches: Array<Pick<InvalidatedCache<never>, "listen" | "forget" | "clear">> = []
    let heard = false
    return {
      open: <A>(options: { readonly capacity: number; readonly lifeMs: number }) => {
        const cache = new InvalidatedCache<A>(options)
        cache.listen(heard)
        caches.push(cache)
        return cache
      },
      listen: (listening) =>
        Effect.sync(() => {
          heard = listening
          for (const cache of caches) cache.listen(listening)
        }),
      forget: (dependency) =>
        Effect.sync(() => {
          for (const cache of caches) cache.forget(dependency)
        }),
      forgetAll: Effect.sync(() => {
        for (const cache of caches) cache.clear()
      })
    }
  })
}
