import { Effect, Option } from "effect"
import { defaultRates, type RateLimitValues, rateLimitValues } from "../../domain/ratelimits/RateLimitSettings.ts"
import { refuse, text } from "./Variables.ts"

/** What a deployment decides about limits of requests; in requests a minute where nothing else is said. */
export interface RateLimitOptions {
  /** All requests of a visitor (by address) or a user. Default 100. */
  readonly api?: number
  /** `GET /api/auth/get-session`, by address. Default 120. */
  readonly session?: number
  /** Every other route of `/api/auth`, by address. Default 10. */
  readonly auth?: number
  /** Attempts to sign in with one e-mail address in 15 minutes. Default 10; no factor applies to it. */
  readonly signInPerEmail?: number
  /**
   * Mails for a new password to one address in 15 minutes, and as many with a link of verification. Default 5; no factor
   * applies to it.
   */
  readonly mailPerRecipient?: number
  /** Checkouts of a visitor or a user. Default 5. */
  readonly checkout?: number
  /** Trials of promotion codes (`POST /api/promotions/validate`). Default 10. */
  readonly promotionTrial?: number
  /** Files of media (`/api/media/files`), by address. Default 3000. */
  readonly media?: number
  /** All requests of an API key that has no limit of its own. Default 6000. */
  readonly apiOfKey?: number
  /** Checkouts of such a key. Default 300. */
  readonly checkoutOfKey?: number
}

const most = 1_000_000_000

const factorOf = Effect.fnUntraced(function*() {
  const found = yield* text("STOA_RATE_LIMIT_FACTOR")
  if (Option.isNone(found)) return 1
  const factor = Number(found.value)
  return Number.isFinite(factor) && factor >= 0 && factor <= 1_000_000
    ? factor
    : yield* refuse("STOA_RATE_LIMIT_FACTOR", found.value, "a number from 0 (no limiting) to 1000000")
})

/** Outside of production limits stay out of the way of whoever tries things out. */
const factorOutsideProduction = 1_000

/** The limits of a process: the deployment's over the contract's, times the factors. */
export const readRateLimits = Effect.fnUntraced(function*(options: RateLimitOptions, production: boolean) {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !(Number.isInteger(value) && value >= 1 && value <= most)) {
      return yield* refuse(`rateLimits.${name}`, String(value), `a whole number from 1 to ${most}`)
    }
  }
  const factor = yield* factorOf()
  return ratesOf(options, production, factor)
})

/** The same for a factor that is known. */
export const ratesOf = (options: RateLimitOptions, production: boolean, factor: number): RateLimitValues => {
  const rates = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  return rateLimitValues({ ...defaultRates, ...rates }, factor * (production ? 1 : factorOutsideProduction))
}
