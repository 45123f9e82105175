import { Clock, Effect } from "effect"
import { type CurrentActor, currentOrganization } from "./Actor.ts"
import { CacheInvalidation } from "./CacheInvalidation.ts"

/** Maximum cached organizations, and the lifetime of an entry without a notification. */
const memory = { capacity: 1_000, lifeMs: 300_000 }

/** A cached value of the organization of the request. */
export interface OrganizationCache<A> {
  readonly value: Effect.Effect<A, never, CurrentActor>
  /** Drops a value after a change by this process, which must not wait for the notification. */
  readonly forget: Effect.Effect<void, never, CurrentActor>
}

/**
 * Caches organization data that every checkout reads, so that a checkout sends no statement for it. Table triggers
 * notify every process of a change, as `<kind>:<organization>` on the channel `auth_changed`.
 */
export const organizationCache = Effect.fnUntraced(function*<A>(
  kind: "shipping" | "tax",
  read: (organizationId: string) => Effect.Effect<A>
) {
  const caches = yield* CacheInvalidation
  const cache = caches.open<A>(memory)
  const dependencyOf = (organizationId: string) => `${kind}:${organizationId}`
  const remembered: OrganizationCache<A> = {
    value: Effect.gen(function*() {
      const organizationId = yield* currentOrganization
      const now = yield* Clock.currentTimeMillis
      const known = cache.find(organizationId, now)
      if (known !== undefined) return known
      const since = cache.changes
      const found = yield* read(organizationId)
      cache.keep(organizationId, found, [dependencyOf(organizationId)], now, since)
      return found
    }),
    forget: Effect.flatMap(currentOrganization, (organizationId) => caches.forget(dependencyOf(organizationId)))
  }
  return remembered
})
