/** One limit that a request counts against: this many requests of this subject in a window. */
export interface RateLimit {
  /** What is limited, `api` or `checkout`. */
  readonly bucket: string
  /** Whose requests are counted, `key:…`, `user:…` or `ip:…`. */
  readonly subject: string
  /** Requests in a window. */
  readonly limit: number
  readonly windowMs: number
  /** False: the limit is told and nobody is refused. */
  readonly enforced: boolean
}

/** How a caller stands with the limit that leaves him the least. */
export interface Standing {
  /** False: the request exceeds the limit and must be refused. */
  readonly admitted: boolean
  readonly limit: number
  readonly remaining: number
  /** When the window ends, in Unix milliseconds. */
  readonly resetsAt: number
  /** The same in milliseconds from now. */
  readonly resetsInMs: number
}

/** The one that is told: a refusal, else the one that leaves less (contract, platform §1.5). */
export const tighter = (one: Standing | undefined, other: Standing): Standing =>
  one === undefined || (one.admitted && (!other.admitted || other.remaining < one.remaining)) ? other : one

/** FNV-1a: spreads the windows of many callers over time and strangers over shared counters. */
export const spread = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}

/**
 * When the window ends that holds this moment, in Unix milliseconds. All processes find the same one without asking
 * each other; each key has windows of its own, so that not everybody's begins with the same second.
 */
export const windowEnd = (key: string, windowMs: number, now: number): number => {
  const offset = spread(key) % windowMs
  return (Math.floor((now + offset) / windowMs) + 1) * windowMs - offset
}
