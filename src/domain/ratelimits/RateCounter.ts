import type { Deferred } from "effect"
import { type RateLimit, spread, type Standing, windowEnd } from "./RateLimit.ts"

/**
 * What this process knows of one key in one window. It may admit what the shared store granted it; a grant is never
 * more than the window has left, so all processes together admit at most the limit.
 */
export class RateCounter {
  /** Requests that this process admitted. */
  used = 0
  /** Requests that the store let this process admit. */
  granted = 0
  /** Requests that the store granted to all processes, as far as this one was told. */
  shared = 0
  /** The store has nothing left for this window. */
  exhausted = false
  /** Requests that wait for the answer to the question under way. */
  waiting = 0
  asking: Deferred.Deferred<void> | undefined

  readonly key: string
  readonly limit: number
  /** End of the window, in Unix milliseconds. */
  readonly ends: number

  constructor(key: string, limit: number, ends: number) {
    this.key = key
    this.limit = limit
    this.ends = ends
  }

  /** Requests that a question asks for beyond those that wait, so that the next ones need not ask. */
  get ahead(): number {
    return Math.floor((this.limit - this.shared) / 10)
  }

  /** Whether a question is due that nobody has to wait for. */
  get runsLow(): boolean {
    return this.asking === undefined && !this.exhausted && this.granted < this.limit &&
      this.granted - this.used <= this.ahead / 2
  }

  /** How many requests the next question asks for; those that were admitted without the store are among them. */
  get wanted(): number {
    return Math.max(1, this.used + this.waiting + this.ahead - this.granted)
  }

  /** The store's answer: how many were granted, and what all processes have got by now. */
  grant(wanted: number, granted: number, shared: number): void {
    this.granted += granted
    this.shared = Math.min(this.limit, shared)
    if (granted < wanted) this.exhausted = true
  }

  standing(admitted: boolean, now: number): Standing {
    const known = this.limit - Math.max(this.shared, this.granted) + this.granted - this.used
    const remaining = admitted ? Math.max(0, Math.min(known, this.limit - this.used)) : 0
    return { admitted, limit: this.limit, remaining, resetsAt: this.ends, resetsInMs: this.ends - now }
  }
}

/** Shared counters for those who find no room, by the hash of their key. */
const slots = 1024

/**
 * The counters of a process, a bounded number. Where there is no room the oldest one goes, which gives nobody a new
 * start: the store knows what it had granted. One with requests that the store does not know yet must stay; then
 * newcomers share a fixed number of counters for the rest of the window.
 */
export class RateCounters {
  readonly #own = new Map<string, RateCounter>()
  readonly #slots = new Map<string, RateCounter>()
  readonly #capacity: number
  #cleaning: Iterator<[string, RateCounter]> = this.#own.entries()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#own.size + this.#slots.size
  }

  /** The counter of this limit's current window. */
  of(limit: RateLimit, now: number): RateCounter {
    const key = `${limit.bucket}:${limit.subject}`
    const known = this.#own.get(key)
    return known !== undefined && now < known.ends && known.limit === limit.limit ? known : this.#open(key, limit, now)
  }

  #open(key: string, limit: RateLimit, now: number): RateCounter {
    this.#clean(now)
    const slot = `${limit.bucket}:shared:${limit.windowMs}:${spread(key) % slots}`
    const shared = this.#slots.get(slot)
    if (shared !== undefined && now < shared.ends && shared.limit === limit.limit) return shared
    this.#slots.delete(slot)
    this.#own.delete(key)
    const place = this.#makeRoom() ? this.#own : this.#slots
    const name = place === this.#own ? key : slot
    const opened = new RateCounter(name, limit.limit, windowEnd(name, limit.windowMs, now))
    place.set(name, opened)
    return opened
  }

  /** Looks at two counters for every new one, so that those whose window ended are gone before many are added. */
  #clean(now: number): void {
    for (let looked = 0; looked < 2; looked++) {
      const next = this.#cleaning.next()
      if (next.done === true) {
        this.#cleaning = this.#own.entries()
        return
      }
      if (now >= next.value[1].ends) this.#own.delete(next.value[0])
    }
  }

  #makeRoom(): boolean {
    if (this.#own.size < this.#capacity) return true
    const [oldest] = this.#own.values()
    return oldest !== undefined && oldest.used <= oldest.granted && this.#own.delete(oldest.key)
  }
}
