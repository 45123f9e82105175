import { Context, Layer } from "effect"
import type { RateLimit } from "./RateLimits.ts"

/** Requests in a window, and its length. */
export interface Rate {
  readonly limit: number
  readonly windowMs: number
  /** False: limits are reported but not enforced. */
  readonly enforced: boolean
}

/** The limits of a deployment as they are applied (contract, platform §1.5). */
export interface RateLimitValues {
  /** Every request of a visitor or a user. */
  readonly api: Rate
  /** Questions for the current session. */
  readonly session: Rate
  /** Every other request to the routes of authentication. */
  readonly auth: Rate
  /** Sign-in attempts with one e-mail address, from any client address. */
  readonly signInPerEmail: Rate
  /** Mails of one kind that requests can send to one address: password resets or verification links. */
  readonly mailPerRecipient: Rate
  readonly checkout: Rate
  readonly promotionTrial: Rate
  /** Files of media, of which one page shows many; they do not count among the others. */
  readonly media: Rate
  /** The same two for API keys. */
  readonly apiOfKey: Rate
  readonly checkoutOfKey: Rate
}

/** The contract's values, in requests a minute but for those by e-mail, in requests per 15 minutes. */
export const defaultRates: Readonly<Record<keyof RateLimitValues, number>> = {
  api: 100,
  session: 120,
  auth: 10,
  signInPerEmail: 10,
  mailPerRecipient: 5,
  checkout: 5,
  promotionTrial: 10,
  media: 3_000,
  apiOfKey: 6_000,
  checkoutOfKey: 300
}

const minute = 60_000

/** Applies a factor to all limits but those by e-mail; a factor of 0 enforces none of the others. */
export const rateLimitValues = (
  rates: Readonly<Record<keyof RateLimitValues, number>>,
  factor: number
): RateLimitValues => {
  const rate = (limit: number): Rate => ({
    limit: factor === 0 ? limit : Math.max(1, Math.round(limit * factor)),
    windowMs: minute,
    enforced: factor !== 0
  })
  return {
    api: rate(rates.api),
    session: rate(rates.session),
    auth: rate(rates.auth),
    signInPerEmail: { limit: rates.signInPerEmail, windowMs: 15 * minute, enforced: true },
    mailPerRecipient: { limit: rates.mailPerRecipient, windowMs: 15 * minute, enforced: true },
    checkout: rate(rates.checkout),
    promotionTrial: rate(rates.promotionTrial),
    media: rate(rates.media),
    apiOfKey: rate(rates.apiOfKey),
    checkoutOfKey: rate(rates.checkoutOfKey)
  }
}

/** The limit of one subject. */
export const limitOf = (bucket: string, subject: string, rate: Rate): RateLimit => ({ bucket, subject, ...rate })

/** The limits of this deployment. */
export class RateLimitSettings extends Context.Service<RateLimitSettings, RateLimitValues>()(
  "stoa/domain/ratelimits/RateLimitSettings"
) {
  static readonly layerOf = (values: RateLimitValues): Layer.Layer<RateLimitSettings> =>
    Layer.succeed(RateLimitSettings, values)
}
