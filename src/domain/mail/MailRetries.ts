import type { Retries } from "../jobs/Task.ts"
import type { MailTemplate } from "./Mail.ts"

const second = 1_000

/** How a mail is tried again: after 30 s, then twice as long each time, 4 hours at most; together about 25 hours. */
export const mailRetries = {
  attempts: 14,
  backoff: { type: "exponential", delay: 30 * second, jitter: 0.2, ceiling: 4 * 3_600 * second }
} as const satisfies Retries

/** Links end after an hour, so their mails are given up after half of one: nobody wants a dead link tomorrow. */
const linkAttempts = 7

/** Tries of a mail in all. */
export const attemptsOf = (template: MailTemplate): number =>
  template === "password-reset" || template === "email-verification" ? linkAttempts : mailRetries.attempts
