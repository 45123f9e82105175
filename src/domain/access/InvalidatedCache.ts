/**
 * What a cached value depends on, as the triggers of the tables name it (`domain/auth/migrations.ts`): `s` and the
 * SHA-256 of a session's token in hexadecimal, `k` and the stored hash of an API key, `u` and a user, `o` and an
 * organization; `tax:` and an organization whose classes or rates of tax changed (`domain/tax/migrations.ts`), and
 * `shipping:` and one whose zones or rates did (`domain/shipping/migrations.ts`).
 */
export type Dependency = string

interface Entry<A> {
  readonly value: A
  readonly until: number
  readonly dependencies: ReadonlyArray<Dependency>
}

/**
 * What a process remembers of the tables of access and of an organization's rules for a short while, the oldest dropped first when there is too much. It
 * remembers only while somebody tells it of changes (`listen`): a revocation must not wait for an entry to run out.
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

  /** Counts the changes so far: what was read before the last one is not to be kept. */
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

  /** Keeps a value that was read when there had been `since` changes; of a later change it may know nothing. */
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

  /** Something changed: whatever depends on it is read anew. */
  forget(dependency: Dependency): void {
    this.#changes += 1
    for (const name of this.#dependents.get(dependency) ?? []) {
      const entry = this.#entries.get(name)
      if (entry !== undefined) this.#drop(name, entry)
    }
  }

  /** Whether changes are told from now on. What was not heard of counts as changed, so everything is forgotten. */
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
