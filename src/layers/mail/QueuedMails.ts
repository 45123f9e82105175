import { Effect, Layer } from "effect"
import { type Mail, type MailContent, Mails, type MailTemplate } from "../../domain/mail/Mail.ts"
import { type NotedMail, OrderMailRepo } from "../../domain/mail/OrderMailRepo.ts"
import { currentOrganization } from "../../domain/platform/access/Actor.ts"
import { newId, OrderMessageId } from "../../domain/platform/ids/Id.ts"
import { Jobs, type NewJob } from "../../domain/platform/jobs/Jobs.ts"
import type { Retries } from "../../domain/platform/tasks/Task.ts"
import { normalizedMailbox } from "../../domain/platform/text/Email.ts"
import { type EncryptedMail, encryptMail, openMail, orderOf } from "./MailEncryption.ts"
import { MailSettings } from "./MailTexts.ts"

/** A separate queue: a slow mail server delays no other jobs. */
export const sendMailSlug = "mail/send"
export const mailQueue = "mail"

const second = 1_000

/** After 30 s, doubling up to 4 hours; about 25 hours in all. */
export const mailRetries = {
  attempts: 14,
  backoff: { type: "exponential", delay: 30 * second, jitter: 0.2, ceiling: 4 * 3_600 * second }
} as const satisfies Retries

/** Links expire after an hour; their mails are given up after half of one. */
const linkAttempts = 7

const attemptsOf = (template: MailTemplate): number =>
  template === "password-reset" || template === "email-verification" ? linkAttempts : mailRetries.attempts

/** An order is paid a moment after it is created. */
const paymentMs = 1_000

const refusals = { missing: "The order has no e-mail address.", unusable: "The address cannot be written to." }

/** What is recorded of a mail about an order; nothing of another one. */
export const noteOf = (
  mail: Mail,
  id: string,
  of: Pick<NotedMail, "outcome" | "content"> & Partial<NotedMail>
) => {
  const orderId = orderOf(mail)
  const { organizationId, template } = mail
  return orderId === undefined
    ? []
    : [{ id: OrderMessageId.make(id), organizationId, orderId, template, ...of }]
}

export const queuedMailsLayer = Layer.effect(
  Mails,
  Effect.gen(function*() {
    const [jobs, orders] = yield* Effect.all([Jobs, OrderMailRepo])
    const { isOn, keyring, switchedOff } = yield* MailSettings
    const sends = (template: MailTemplate) => isOn && !switchedOff.includes(template)

    const jobOf = (mail: Mail, input: EncryptedMail, idempotencyKey?: string): NewJob => ({
      task: sendMailSlug,
      input,
      options: {
        organizationId: mail.organizationId,
        queue: mailQueue,
        maxAttempts: attemptsOf(mail.template),
        delayMs: mail.template === "order-confirmation" ? paymentMs : 0,
        ...(idempotencyKey === undefined ? {} : { idempotencyKey })
      }
    })

    const skip = (mail: Mail) => {
      const failure = mail.to === "" ? refusals.missing : refusals.unusable
      return Effect.as(
        orderOf(mail) === undefined
          ? Effect.logWarning(`a mail ${mail.template} has no address that can be written to`)
          : Effect.void,
        noteOf(mail, newId(), { outcome: "skipped", failure, content: contentOf(encryptMail(keyring, mail)) })
      )
    }

    const enqueue = Effect.fnUntraced(
      function*(mails: ReadonlyArray<Mail>, idempotencyKey?: string, resentFrom?: OrderMessageId) {
        const made = mails.map((mail) => ({ mail, input: encryptMail(keyring, mail) }))
        const ids = yield* jobs.enqueueAll(made.map(({ input, mail }) => jobOf(mail, input, idempotencyKey)))
        return made.flatMap(({ input, mail }, at) =>
          noteOf(mail, ids[at] ?? newId(), {
            outcome: "queued",
            resentFrom: resentFrom ?? null,
            content: contentOf(input)
          })
        )
      },
      Effect.catch(Effect.die)
    )

    const sendAll = Effect.fn("Mails.sendAll")(function*(mails: ReadonlyArray<Mail>, idempotencyKey?: string) {
      const wanted = mails.filter(({ template }) => sends(template))
      const sendable = wanted.filter(({ to }) => normalizedMailbox(to) !== undefined)
      const skipped = yield* Effect.forEach(wanted.filter((mail) => !sendable.includes(mail)), skip)
      const queued = sendable.length === 0 ? [] : yield* enqueue(sendable, idempotencyKey)
      yield* orders.note([...skipped.flat(), ...queued])
    })

    const sendAgain = Effect.fn("Mails.sendAgain")(function*(
      id: OrderMessageId,
      content: MailContent,
      to: string
    ) {
      const organizationId = yield* currentOrganization
      const mail = openMail(keyring, organizationId, content)
      if (mail === undefined || !sends(mail.template)) return undefined
      const notes = yield* enqueue([{ ...mail, to }], undefined, id)
      yield* orders.note(notes)
      return notes[0]?.id
    })

    return Mails.of({
      isOn,
      sends,
      sendAgain,
      receiverOf: (organizationId, content) => openMail(keyring, organizationId, content)?.to || null,
      sendAll: (mails) => sendAll(mails),
      send: (mail, key) => sendAll([mail], key)
    })
  })
)

export const contentOf = ({ encrypted, keyId }: EncryptedMail): MailContent => ({ encrypted, keyId })
