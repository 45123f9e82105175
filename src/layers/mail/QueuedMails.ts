import { Effect, Layer } from "effect"
import { Jobs, type NewJob } from "../../domain/jobs/Jobs.ts"
import type { Retries } from "../../domain/jobs/Task.ts"
import { type Mail, Mails, type MailTemplate } from "../../domain/mail/Mail.ts"
import { isMailAddress } from "../../domain/mail/MailAddress.ts"
import { encryptMail } from "./EncryptedMail.ts"
import { MailSettings } from "./MailSettings.ts"

/** Slug of the task that sends mails, and its queue, so that a slow mail server delays no other jobs. */
export const sendMailSlug = "mail/send"
export const mailQueue = "mail"

const second = 1_000

/** Retries after 30 s, then twice as long each time up to 4 hours; about 25 hours in all. */
export const mailRetries = {
  attempts: 14,
  backoff: { type: "exponential", delay: 30 * second, jitter: 0.2, ceiling: 4 * 3_600 * second }
} as const satisfies Retries

/** Links expire after an hour, so their mails are given up after half of one. */
const linkAttempts = 7

const attemptsOf = (template: MailTemplate): number =>
  template === "password-reset" || template === "email-verification" ? linkAttempts : mailRetries.attempts

/** Delay of a confirmation: an order is paid a moment after it is created. */
const paymentMs = 1_000

/** `Mails` over the queue of background jobs. */
export const queuedMailsLayer = Layer.effect(
  Mails,
  Effect.gen(function*() {
    const jobs = yield* Jobs
    const { isOn, keyring, switchedOff } = yield* MailSettings
    const sends = (template: MailTemplate) => isOn && !switchedOff.includes(template)

    const jobOf = (mail: Mail): NewJob => ({
      task: sendMailSlug,
      input: encryptMail(keyring, mail),
      options: {
        organizationId: mail.organizationId,
        queue: mailQueue,
        maxAttempts: attemptsOf(mail.template),
        delayMs: mail.template === "order-confirmation" ? paymentMs : 0
      }
    })

    /** Drops mails without a usable address, and keeps the address out of the log. */
    const addressed = (mail: Mail) =>
      isMailAddress(mail.to)
        ? Effect.succeed(true)
        : Effect.as(Effect.logWarning(`a mail ${mail.template} has no address that can be written to`), false)

    const sendAll = Effect.fn("Mails.sendAll")(function*(mails: ReadonlyArray<Mail>) {
      const sendable = yield* Effect.filter(mails.filter(({ template }) => sends(template)), addressed)
      if (sendable.length > 0) yield* Effect.catch(jobs.enqueueAll(sendable.map(jobOf)), Effect.die)
    })

    return Mails.of({ isOn, sends, sendAll, send: (mail) => sendAll([mail]) })
  })
)
