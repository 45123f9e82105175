import { Context, Effect, Layer, Record } from "effect"

export interface RateLimit {
  /** For example `api`, `checkout`. */
  readonly bucket: string
  /** `key:…`, `user:…` or `ip:…`. */
  readonly subject: string
  readonly limit: number
  readonly windowMs: number
  /** False: only reported in headers. */
  readonly enforced: boolean
}

export interface Standing {
  readonly admitted: boolean
  readonly limit: number
  readonly remaining: number
  /** Unix milliseconds. */
  readonly resetsAt: number
  readonly resetsInMs: number
}

/** Request limits that all processes of a deployment share (docs/adr/0014). */
export class RateLimits extends Context.Service<RateLimits, {
  /** Counts a request against the limits until one refuses it; returns the tightest. */
  readonly admit: (...limits: readonly [RateLimit, ...ReadonlyArray<RateLimit>]) => Effect.Effect<Standing>
  readonly standing: (limit: RateLimit) => Effect.Effect<Standing>
}>()("stoa/domain/platform/ratelimits/RateLimits") {}

export const tighter = (one: Standing | undefined, other: Standing): Standing =>
  one === undefined || (one.admitted && (!other.admitted || other.remaining < one.remaining)) ? other : one

const hash = (text: string): number => {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return value >>> 0
}

/**
 * End of the window around `now`, in Unix milliseconds, the same in all processes. The hash spreads the ends of
 * windows.
 */
export const windowEnd = (key: string, windowMs: number, now: number): number => {
  const offset = hash(key) % windowMs
  return (Math.floor((now + offset) / windowMs) + 1) * windowMs - offset
}

export interface Rate {
  readonly limit: number
  readonly windowMs: number
  readonly enforced: boolean
}

/** Requests a minute unless stated otherwise (contract, platform §1.5). */
export const defaultRates = {
  /** All requests of a visitor (by address) or a user. Default 100. */
  api: 100,
  /** `GET /api/auth/get-session`, by address. Default 120. */
  session: 120,
  /** Every other route of `/api/auth`, by address. Default 10. */
  auth: 10,
  /** Sign-in attempts with one e-mail address in 15 minutes. Default 10; without a factor. */
  signInPerEmail: 10,
  /** Mails of one kind to one address in 15 minutes. Default 5; without a factor. */
  mailPerRecipient: 5,
  /** Messages that a shopper causes in an hour, to any receivers. Default 20. */
  mailsOfShopper: 20,
  /** Messages to one receiver in a day that shoppers or jobs cause, but for paid orders. Default 30. */
  mailsToReceiver: 30,
  /** Checkouts of a visitor or a user. Default 5. */
  checkout: 5,
  /** Trials of promotion codes, and changes and quotes of carts, which try codes too. Default 10. */
  promotionTrial: 10,
  /** Requests to each route of a plugin with `rate: "strict"`. Default 10. */
  strict: 10,
  /** Files of media, by address; they count only here. Default 3000. */
  media: 3_000,
  /** Requests of an API key without a limit. Default 6000. */
  apiOfKey: 6_000,
  /** Checkouts of such a key. Default 300. */
  checkoutOfKey: 300
}

type Rates = Readonly<Record<keyof typeof defaultRates, number>>

export type RateLimitValues = Readonly<Record<keyof typeof defaultRates, Rate>>

const minute = 60_000

/** Applies a factor to all limits but those by e-mail; 0 enforces none of the others. */
export const rateLimitValues = (rates: Rates, factor: number): RateLimitValues => {
  const perEmail = (limit: number): Rate => ({ limit, windowMs: 15 * minute, enforced: true })
  const within = (windowMs: number) => (limit: number): Rate => ({
    limit: factor === 0 ? limit : Math.max(1, Math.round(limit * factor)),
    windowMs,
    enforced: factor !== 0
  })
  return {
    ...Record.map(rates, within(minute)),
    mailsOfShopper: within(60 * minute)(rates.mailsOfShopper),
    mailsToReceiver: within(1_440 * minute)(rates.mailsToReceiver),
    signInPerEmail: perEmail(rates.signInPerEmail),
    mailPerRecipient: perEmail(rates.mailPerRecipient)
  }
}

export const limitOf = (bucket: string, subject: string, rate: Rate): RateLimit => ({ bucket, subject, ...rate })

export class RateLimitSettings extends Context.Service<RateLimitSettings, RateLimitValues>()(
  "stoa/domain/platform/ratelimits/RateLimitSettings"
) {
  static readonly layerOf = (values: RateLimitValues): Layer.Layer<RateLimitSettings> =>
    Layer.succeed(RateLimitSettings, values)
}

/** Limits guesses, such as codes of gift cards, to `rateLimits.strict` for each subject. */
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
