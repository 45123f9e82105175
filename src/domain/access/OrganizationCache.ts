import { Clock, Effect } from "effect"
import { type CurrentActor, currentOrganization } from "./Actor.ts"
import { CacheInvalidation } from "./CacheInvalidation.ts"

/** How many organizations a process remembers, and for how long if nobody tells it of a change. */
const memory = { capacity: 1_000, lifeMs: 300_000 }

/** What a process remembers of the organization of the request. */
export interface OrganizationCache<A> {
  readonly value: Effect.Effect<A, never, CurrentActor>
  /** Something was changed by this process, which shall not wait for its own notification. */
  readonly forget: Effect.Effect<void, never, CurrentActor>
}

/**
 * Remembers what every checkout asks of its organization, so that it sends no statement for it. The triggers of the
 * tables tell every process of a change, as `<kind>:<organization>` over the channel `auth_changed`.
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
