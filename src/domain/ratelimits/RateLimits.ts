import { Context, type Effect } from "effect"

/** One limit that a request counts against: this many requests of a subject in a fixed window. */
export interface RateLimit {
  /** What is limited, `api` or `checkout`. */
  readonly bucket: string
  /** Whose requests are counted, `key:…`, `user:…` or `ip:…`. */
  readonly subject: string
  /** Requests in a window. */
  readonly limit: number
  readonly windowMs: number
  /** False: the limit is reported in headers and refuses no request. */
  readonly enforced: boolean
}

/** The state of a limit after a request was counted against it. */
export interface Standing {
  /** False: the request exceeds the limit and must be refused. */
  readonly admitted: boolean
  readonly limit: number
  readonly remaining: number
  /** End of the window, in Unix milliseconds. */
  readonly resetsAt: number
  /** The same in milliseconds from now. */
  readonly resetsInMs: number
}

/** Request limits that all processes of a deployment share (docs/adr/0014). */
export class RateLimits extends Context.Service<RateLimits, {
  /** Counts a request against these limits in order, until one refuses it; returns the tightest. */
  readonly admit: (...limits: readonly [RateLimit, ...ReadonlyArray<RateLimit>]) => Effect.Effect<Standing>
  /** The state of a limit as cached in this process, without counting a request. */
  readonly standing: (limit: RateLimit) => Effect.Effect<Standing>
}>()("stoa/domain/ratelimits/RateLimits") {}

/** The more restrictive of two states: a refusal, else the one with fewer requests left. */
export const tighter = (one: Standing | undefined, other: Standing): Standing =>
  one === undefined || (one.admitted && (!other.admitted || other.remaining < one.remaining)) ? other : one

/** FNV-1a. */
const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value >>> 0
}

/**
 * End of the window of this limit that contains `now`, in Unix milliseconds. All processes compute the same one; the
 * hash keeps the windows of all subjects from ending in the same second.
 */
export const windowEnd = (key: string, windowMs: number, now: number): number => {
  const offset = hash(key) % windowMs
  return (Math.floor((now + offset) / windowMs) + 1) * windowMs - offset
}
