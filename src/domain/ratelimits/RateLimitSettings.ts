import { Context, Layer } from "effect"
import type { RateLimit } from "./RateLimits.ts"

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
export const rateLimitValues = (
  rates: Rates,
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
