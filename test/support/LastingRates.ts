import { Record } from "effect"
import { defaultRates, type RateLimitValues, rateLimitValues } from "../../src/domain/platform/ratelimits/RateLimits.ts"

/** Ends no window before the year 2248: no test begins in one window and ends in the next. */
const windowMs = 2 ** 43

/** The limits of production but for these, in windows that no test outlives. */
export const lastingRates = (own: Partial<typeof defaultRates>): RateLimitValues =>
  Record.map(rateLimitValues({ ...defaultRates, ...own }, 1), (rate) => ({ ...rate, windowMs }))
