import { Context, Effect, Layer, Record } from "effect"

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
}>()("stoa/domain/platform/ratelimits/RateLimits") {}

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

/** Requests in a window, and its length. */
export interface Rate {
  readonly limit: number
  readonly windowMs: number
  /** False: limits are reported but not enforced. */
  readonly enforced: boolean
}

/** The contract's limits, in requests a minute unless stated otherwise (platform §1.5). */
export const defaultRates = {
  /** All requests of a visitor (by address) or a user. Default 100. */
  api: 100,
  /** `GET /api/auth/get-session`, by address. Default 120. */
  session: 120,
  /** Every other route of `/api/auth`, by address. Default 10. */
  auth: 10,
  /** Sign-in attempts with one e-mail address in 15 minutes, from any client address. Default 10; without a factor. */
  signInPerEmail: 10,
  /** Mails of one kind to one address in 15 minutes: password resets or verification links. Default 5; without a factor. */
  mailPerRecipient: 5,
  /** Checkouts of a visitor or a user. Default 5. */
  checkout: 5,
  /** Trials of promotion codes (`POST /api/promotions/validate`). Default 10. */
  promotionTrial: 10,
  /** Requests to each route of a plugin with `rate: "strict"`. Default 10. */
  strict: 10,
  /** Files of media (`/api/media/files`), by address; a page shows many, and they count only here. Default 3000. */
  media: 3_000,
  /** All requests of an API key that has no limit. Default 6000. */
  apiOfKey: 6_000,
  /** Checkouts of such a key. Default 300. */
  checkoutOfKey: 300
}

type Rates = Readonly<Record<keyof typeof defaultRates, number>>

/** The limits of a deployment as they are applied. */
export type RateLimitValues = Readonly<Record<keyof typeof defaultRates, Rate>>

const minute = 60_000

/** Applies a factor to all limits but those by e-mail; a factor of 0 enforces none of the others. */
export const rateLimitValues = (rates: Rates, factor: number): RateLimitValues => {
  const perEmail = (limit: number): Rate => ({ limit, windowMs: 15 * minute, enforced: true })
  return {
    ...Record.map(rates, (limit): Rate => ({
      limit: factor === 0 ? limit : Math.max(1, Math.round(limit * factor)),
      windowMs: minute,
      enforced: factor !== 0
    })),
    signInPerEmail: perEmail(rates.signInPerEmail),
    mailPerRecipient: perEmail(rates.mailPerRecipient)
  }
}

/** The limit of one subject. */
export const limitOf = (bucket: string, subject: string, rate: Rate): RateLimit => ({ bucket, subject, ...rate })

/** The limits of this deployment. */
export class RateLimitSettings extends Context.Service<RateLimitSettings, RateLimitValues>()(
  "stoa/domain/platform/ratelimits/RateLimitSettings"
) {
  static readonly layerOf = (values: RateLimitValues): Layer.Layer<RateLimitSettings> =>
    Layer.succeed(RateLimitSettings, values)
}

/** Tries of what can be guessed, such as the code of a gift card: `rateLimits.strict` of them for each subject. */
export class GuessLimits extends Context.Service<GuessLimits>()("stoa/domain/platform/ratelimits/GuessLimits", {
  make: Effect.gen(function*() {
    const [limits, { strict }] = yield* Effect.all([RateLimits, RateLimitSettings])
    return {
      /** Counts a try against each subject in its order; refuse it unless it is `admitted`. */
      admit: (what: string, ...[first, ...others]: readonly [string, ...ReadonlyArray<string>]) => {
        const limit = (subject: string) => limitOf(`guess:${what}`, subject, strict)
        return limits.admit(limit(first), ...others.map(limit))
      }
    }
  })
}) {}
