import type { Retries } from "../jobs/Task.ts"

const second = 1_000
const hour = 3_600 * second

/**
 * How a delivery is tried again (contract, platform §9.3): ten attempts, the first retry after about 3 minutes, then
 * twice as long each time, together about 24 hours.
 */
export const deliveryRetries = {
  attempts: 10,
  backoff: { type: "exponential", delay: 170 * second, jitter: 0.2, ceiling: 12 * hour }
} as const satisfies Retries

/** Milliseconds after an attempt, from 1, until the next one, without the spread. */
export const waitAfter = (attempt: number): number =>
  Math.min(deliveryRetries.backoff.ceiling, deliveryRetries.backoff.delay * 2 ** (attempt - 1))

/** A dispatch that nobody touched for longer than any retry waits has lost its job. In hours. */
export const lostAfterHours = 18
