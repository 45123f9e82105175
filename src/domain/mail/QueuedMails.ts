import { Effect, Layer } from "effect"
import { Jobs } from "../jobs/Jobs.ts"
import type { NewJob } from "../jobs/NewJob.ts"
import { type Mail, Mails, type MailTemplate } from "./Mail.ts"
import { isMailAddress } from "./MailAddress.ts"
import { attemptsOf } from "./MailRetries.ts"
import { MailSettings } from "./MailSettings.ts"
import { sealMail } from "./SealedMail.ts"

/** Slug of the task that sends, and its queue: a mail server that is slow holds up nothing else. */
export const sendMailSlug = "mail/send"
export const mailQueue = "mail"

/** An order is announced when it is placed, and paid a moment later: a confirmation leaves that moment to its payment. */
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
      input: sealMail(keyring, mail),
      options: {
        organizationId: mail.organizationId,
        queue: mailQueue,
        maxAttempts: attemptsOf(mail.template),
        delayMs: mail.template === "order-confirmation" ? paymentMs : 0
      }
    })

    /** The address itself stays out of the log. */
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
