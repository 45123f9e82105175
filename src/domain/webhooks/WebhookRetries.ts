import type { Retries } from "../jobs/Task.ts"

/** How long a delivery that failed waits for its next attempt (contract, platform §9.3). */
export interface WebhookBackoff {
  /** Seconds before the first retry. */
  readonly baseSeconds: number
  /** Growth of each wait over the previous one. */
  readonly factor: number
  /** Seconds that no wait exceeds. */
  readonly maxSeconds: number
  /**
   * Varies each wait by up to this share of it, 0 to 1, so that deliveries that failed together are not retried
   * together.
   */
  readonly jitter: number
}

/** The first retry after about 3 minutes, then twice as long each time: ten attempts over about a day. */
export const usualBackoff: WebhookBackoff = { baseSeconds: 170, factor: 2, maxSeconds: 43_200, jitter: 0.2 }

/** How a delivery is tried again: ten attempts. */
export const deliveryRetries = ({ baseSeconds, factor, jitter, maxSeconds }: WebhookBackoff) =>
  ({
    attempts: 10,
    backoff: { type: "exponential", delay: baseSeconds * 1_000, factor, jitter, ceiling: maxSeconds * 1_000 }
  }) as const satisfies Retries

/** Milliseconds after an attempt, from 1, until the next one, without the spread. */
export const waitAfter = ({ baseSeconds, factor, maxSeconds }: WebhookBackoff, attempt: number): number =>
  Math.min(maxSeconds, baseSeconds * factor ** (attempt - 1)) * 1_000

/**
 * Hours without a touch after which a dispatch has lost its job: longer than any retry waits, and longer than a queue
 * for the slots of an endpoint can take (`DeliveryQueue`).
 */
export const lostAfterHours = ({ maxSeconds }: WebhookBackoff): number =>
  Math.max(18, Math.ceil((maxSeconds * 1.5) / 3_600))
