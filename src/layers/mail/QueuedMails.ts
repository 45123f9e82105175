import { Effect, Layer, Option, Schema } from "effect"
import { Jobs, type NewJob } from "../../domain/jobs/Jobs.ts"
import type { Retries } from "../../domain/jobs/Task.ts"
import { Mail, Mails, type MailTemplate } from "../../domain/mail/Mail.ts"
import { isMailAddress } from "../../domain/mail/MailAddress.ts"
import { encryptSecret, type Keyring, openSecret } from "../../domain/webhooks/SecretEncryption.ts"
import { MailSettings } from "./MailSettings.ts"

/**
 * Input of the task `mail/send`: the mail is encrypted, because it holds an address and often a link that opens an
 * account; people who see jobs see the other fields. Additions must be optional, because jobs outlive versions.
 */
export const EncryptedMail = Schema.Struct({
  template: Schema.String,
  /** The order of the mail. */
  orderId: Schema.optional(Schema.String),
  keyId: Schema.String,
  encrypted: Schema.String,
  /** The first job of this mail, if it was postponed. */
  mailId: Schema.optional(Schema.String),
  /** How often it was postponed, because its order was not paid yet. */
  postponed: Schema.optional(Schema.Int)
})
export type EncryptedMail = typeof EncryptedMail.Type

const MailJson = Schema.fromJsonString(Mail)
const encode = Schema.encodeSync(MailJson)
const decode = Schema.decodeUnknownOption(MailJson)

/** Ties the input to its organization: copied to another one it does not decrypt. */
const ownerOf = (organizationId: string) => `mail/${organizationId}`

/** The input of the job that sends a mail. */
export const encryptMail = (keyring: Keyring, mail: Mail): EncryptedMail => {
  const { keyId, text } = encryptSecret(keyring, ownerOf(mail.organizationId), encode(mail))
  const about = "orderId" in mail.data ? { orderId: mail.data.orderId } : {}
  return { template: mail.template, ...about, keyId, encrypted: text }
}

/** The mail of a job of an organization; undefined when no key of the deployment decrypts it. */
export const openMail = (keyring: Keyring, organizationId: string, input: EncryptedMail): Mail | undefined => {
  const text = openSecret(keyring, ownerOf(organizationId), { keyId: input.keyId, text: input.encrypted })
  return text === undefined ? undefined : Option.getOrUndefined(decode(text))
}

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
