/**
 * Dependencies of a cached value, as the triggers of the tables name them (`domain/auth/migrations.ts`): `s` and the
 * SHA-256 of a session's token in hexadecimal, `k` and the stored hash of an API key, `u` and a user, `o` and an
 * organization; `tax:` and an organization whose tax classes or rates changed (`domain/tax/migrations.ts`), and
 * `shipping:` for its zones or rates (`domain/shipping/migrations.ts`).
 */
export type Dependency = string

interface Entry<A> {
  readonly value: A
  readonly until: number
  readonly dependencies: ReadonlyArray<Dependency>
}

/**
 * A short-lived cache of access tables and of an organization's rules; evicts the oldest values when full. It stores
 * values only while it receives notifications (`listen`): a revocation must not wait for an entry to expire.
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
