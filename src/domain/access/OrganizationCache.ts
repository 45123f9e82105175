import { Effect } from "effect"
import { type CurrentActor, currentOrganization } from "./Actor.ts"
import { cachedOr, CacheInvalidation } from "./CacheInvalidation.ts"

/** Maximum cached organizations, and the lifetime of an entry without a notification. */
const limits = { capacity: 1_000, lifeMs: 300_000 }

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
  const cache = caches.open<A>(limits)
  const dependencyOf = (organizationId: string) => `${kind}:${organizationId}`
  const organizations: OrganizationCache<A> = {
    value: Effect.gen(function*() {
      const organizationId = yield* currentOrganization
      return yield* cachedOr(cache, organizationId, dependencyOf(organizationId), read(organizationId))
    }),
    forget: Effect.flatMap(currentOrganization, (organizationId) => caches.forget(dependencyOf(organizationId)))
  }
  return organizations
})
