import { Clock, Context, Effect, Layer } from "effect"
import { type CurrentActor, currentOrganization } from "./Actor.ts"

/**
 * Dependencies of a cached value, as the triggers of the tables name them (`domain/auth/migrations.ts`): `s` and the
 * SHA-256 of a session's token in hexadecimal, `k` and the stored hash of an API key, `u` and a user, `o` and an
 * organization; `tax:` and an organization whose tax classes or rates changed (`domain/tax/migrations.ts`),
 * `shipping:` for its zones or rates (`domain/shipping/migrations.ts`), and `exemptions:` for tax exemptions of its
 * customers (`domain/customers/migrations.ts`).
 */
export type Dependency = string

interface Entry<A> {
  readonly value: A
  readonly until: number
  readonly dependencies: ReadonlyArray<Dependency>
}

/**
 * A short-lived cache that evicts the oldest values. It stores only while notifications arrive: a revocation must not wait
 * for an entry to expire.
 */
export class InvalidatedCache<A> {
  readonly #capacity: number
  readonly #lifeMs: number
  readonly #entries = new Map<string, Entry<A>>()
  readonly #dependents = new Map<Dependency, Set<string>>()
  #listening = false
  #changes = 0

  constructor(options: { readonly capacity: number; readonly lifeMs: number }) {
    this.#capacity = options.capacity
    this.#lifeMs = options.lifeMs
  }

  get size(): number {
    return this.#entries.size
  }

  /** Counts the changes so far: a value that was read before the last one is not stored. */
  get changes(): number {
    return this.#changes
  }

  find(name: string, now: number): A | undefined {
    const entry = this.#entries.get(name)
    if (entry === undefined) return undefined
    if (entry.until > now) return entry.value
    this.#drop(name, entry)
    return undefined
  }

  /** Stores a value that was read after `since` changes, unless anything has changed since: it may be stale. */
  keep(name: string, value: A, dependencies: ReadonlyArray<Dependency>, now: number, since: number): void {
    if (!this.#listening || since !== this.#changes) return
    const known = this.#entries.get(name)
    if (known !== undefined) this.#drop(name, known)
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size < this.#capacity) break
      this.#drop(oldest, entry)
    }
    this.#entries.set(name, { value, until: now + this.#lifeMs, dependencies })
    for (const dependency of dependencies) {
      const dependents = this.#dependents.get(dependency)
      if (dependents === undefined) this.#dependents.set(dependency, new Set([name]))
      else dependents.add(name)
    }
  }

  /** Drops all values that depend on a change. */
  forget(dependency: Dependency): void {
    this.#changes += 1
    for (const name of this.#dependents.get(dependency) ?? []) {
      const entry = this.#entries.get(name)
      if (entry !== undefined) this.#drop(name, entry)
    }
  }

  /** Whether notifications arrive. Missed notifications count as changes, so the cache is cleared. */
  listen(listening: boolean): void {
    this.#listening = listening
    this.clear()
  }

  clear(): void {
    this.#changes += 1
    this.#entries.clear()
    this.#dependents.clear()
  }

  #drop(name: string, { dependencies }: Entry<A>): void {
    this.#entries.delete(name)
    for (const dependency of dependencies) {
      const dependents = this.#dependents.get(dependency)
      dependents?.delete(name)
      if (dependents?.size === 0) this.#dependents.delete(dependency)
    }
  }
}

/**
 * Invalidates the caches of credentials and of rules that checkouts read. Code that changes a row in this process may call
 * `forget`, so that it does not wait for the notification.
 */
export class CacheInvalidation
  extends Context.Service<CacheInvalidation>()("stoa/domain/platform/access/CacheInvalidation", {
    make: Effect.sync(() => {
      const caches: Array<Pick<InvalidatedCache<never>, "listen" | "forget" | "clear">> = []
      let heard = false
      return {
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
  })
{
  static readonly layer = Layer.effect(CacheInvalidation, CacheInvalidation.make)
}

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

const ofOrganizations = { capacity: 1_000, lifeMs: 300_000 }

/** A cached value of the organization of the request. */
export interface OrganizationCache<A> {
  readonly value: Effect.Effect<A, never, CurrentActor>
  /** Drops a value after a change by this process, which must not wait for the notification. */
  readonly forget: Effect.Effect<void, never, CurrentActor>
}

/**
 * Caches organization data, so that a checkout sends no statement for it. Triggers notify every process as
 * `<kind>:<organization>`.
 */
export const organizationCache = Effect.fnUntraced(function*<A>(
  kind: "exemptions" | "shipping" | "tax",
  read: (organizationId: string) => Effect.Effect<A>
) {
  const caches = yield* CacheInvalidation
  const cache = caches.open<A>(ofOrganizations)
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
