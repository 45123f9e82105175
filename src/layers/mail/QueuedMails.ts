import { Duration, Effect, Layer, Metric, Schema } from "effect"
import { Invoices } from "../../domain/invoices/Invoices.ts"
import { declineHeaders, type MailCategory } from "../../domain/mail/DeclineLink.ts"
import { isPluginMail, type Mail, type MailContent, Mails, type MailTemplate } from "../../domain/mail/Mail.ts"
import { MailChoices } from "../../domain/mail/MailChoices.ts"
import { type NotedMail, OrderMailRepo } from "../../domain/mail/OrderMailRepo.ts"
import { currentOrganization } from "../../domain/platform/access/Actor.ts"
import { newId, OrderMessageId } from "../../domain/platform/ids/Id.ts"
import { Jobs, type NewJob } from "../../domain/platform/jobs/Jobs.ts"
import { defineTask, GiveUp, type Retries, type Task } from "../../domain/platform/tasks/Task.ts"
import { normalizedMailbox } from "../../domain/platform/text/Email.ts"
import { EncryptedMail, encryptMail, openMail, orderOf } from "./MailEncryption.ts"
import { MailSettings, renderMail } from "./MailTexts.ts"
import { MailDelayed, MailRefused, MailTransport, withoutPrivate } from "./MailTransport.ts"

/** A separate queue: a slow mail server delays no other jobs. */
const sendMailSlug = "mail/send"
const mailQueue = "mail"

const second = 1_000

/** After 30 s, doubling up to 4 hours; about 25 hours in all. */
const mailRetries = {
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
const noteOf = (
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

const contentOf = ({ encrypted, keyId }: EncryptedMail): MailContent => ({ encrypted, keyId })

interface MailRun {
  readonly jobId: string
  readonly organizationId: string
  readonly input: EncryptedMail
  readonly attemptNumber: number
  readonly maxAttempts: number
}

type MailNote =
  | { readonly sent: true }
  | { readonly skipped: string }
  /** The receiver declined it, or got too many. */
  | { readonly suppressed: string }
  | { readonly waiting: string }

const mailsTotal = Metric.counter("stoa_mails_total", {
  description: "Tries to send a mail, by template and outcome: sent, delayed, refused, skipped or suppressed",
  incremental: true
})

const durations = Metric.histogram("stoa_mail_duration_seconds", {
  description: "Seconds that handing over a mail took, the wait for a free connection included",
  boundaries: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
})

type MailOutcome = "sent" | "delayed" | "refused" | "skipped" | "suppressed"

const countMail = Effect.fnUntraced(
  function*(template: MailTemplate, outcome: MailOutcome, millis?: number) {
    yield* Metric.update(Metric.withAttributes(mailsTotal, { template, outcome }), 1)
    if (millis !== undefined) yield* Metric.update(durations, millis / 1000)
  }
)

const maxPostponed = 1_440

const postponedBy = (times: number): number => Math.min(60_000, 2_000 * 2 ** Math.min(times, 10))

/** Rendered for each try: no job carries a file. */
const attachmentsOf = (invoices: Invoices["Service"], mail: Mail) =>
  mail.template !== "order-invoice" ? Effect.succeed([]) : invoices.fileToSend(mail.data.orderId).pipe(
    Effect.map(({ fileName, pdf }) => [{ fileName, contentType: "application/pdf", content: pdf }]),
    Effect.mapError(({ error }) => new MailRefused({ message: error.message }))
  )

/** Undefined for transactional mails. */
const categoryOf = (mail: Mail): MailCategory | undefined =>
  isPluginMail(mail) && mail.category !== undefined ? { to: mail.to, category: mail.category } : undefined

/** A mail that can be declined never leaves without its link. */
const declineLink = ({ linkOf }: MailChoices["Service"], mail: Mail) => {
  const declinable = categoryOf(mail)
  if (declinable === undefined) return Effect.undefined
  const url = linkOf(mail.organizationId, declinable)
  return url === undefined
    ? Effect.fail(new MailRefused({ message: "Mails that can be declined need STOA_PUBLIC_URL with https." }))
    : Effect.succeed(url)
}

const textsOf = (settings: MailSettings["Service"], run: MailRun, mail: Mail, unsubscribeUrl: string | undefined) =>
  Effect.try({
    try: () => ({
      ...renderMail(mail, settings, unsubscribeUrl),
      mail,
      headers: unsubscribeUrl === undefined ? {} : declineHeaders(unsubscribeUrl),
      messageId: `${run.input.mailId ?? run.jobId}@${settings.domain}`,
      fromName: settings.storeName
    }),
    catch: (error) => new MailDelayed({ message: `its template failed: ${withoutPrivate(String(error))}` })
  })

/** Records the outcome at the order; a failure here must not send the mail again. */
const record =
  (orders: OrderMailRepo["Service"]) =>
  ({ input, jobId }: MailRun, mail: Mail, of: Pick<NotedMail, "outcome" | "failure" | "subject">) =>
    orders.note(noteOf(mail, input.mailId ?? jobId, { content: contentOf(input), ...of })).pipe(
      Effect.catchDefect((defect) => Effect.logWarning("the outcome of a mail could not be recorded", defect))
    )

const makeDelivery = Effect.gen(function*() {
  const [jobs, mails, invoices] = [yield* Jobs, yield* Mails, yield* Invoices]
  const [orders, settings, transport] = [yield* OrderMailRepo, yield* MailSettings, yield* MailTransport]
  const choices = yield* MailChoices
  const recordOutcome = record(orders)

  const postpone = Effect.fnUntraced(
    function*({ attemptNumber, input, jobId, maxAttempts, organizationId }: MailRun) {
      const postponed = input.postponed ?? 0
      const again: EncryptedMail = { ...input, mailId: input.mailId ?? jobId, postponed: postponed + 1 }
      yield* jobs.enqueue(sendMailSlug, again, {
        organizationId,
        queue: mailQueue,
        delayMs: postponedBy(postponed),
        maxAttempts: maxAttempts - attemptNumber + 1
      }).pipe(Effect.catch(Effect.die))
      return { waiting: "the order is not paid yet" }
    }
  )

  const held = Effect.fnUntraced(function*(run: MailRun, mail: Mail) {
    if (!mails.sends(mail.template)) return { skipped: "The template is switched off." }
    if (isPluginMail(mail) && mail.suppressed !== undefined) return { suppressed: mail.suppressed }
    const declinable = categoryOf(mail)
    if (declinable !== undefined && (yield* choices.declined([declinable])).length > 0) {
      return { suppressed: `the receiver declined the category ${declinable.category}` }
    }
    if (mail.template !== "order-confirmation") return undefined
    const state = yield* orders.paymentState(mail.data.orderId)
    if (state === "paid") return undefined
    if (state === "awaited" && (run.input.postponed ?? 0) < maxPostponed) return yield* postpone(run)
    return { skipped: state === "given-up" ? "The order was cancelled." : "The order was never paid." }
  })

  const deliver = Effect.fnUntraced(function*(run: MailRun, mail: Mail) {
    const texts = yield* textsOf(settings, run, mail, yield* declineLink(choices, mail))
    yield* transport.deliver({ ...texts, attachments: yield* attachmentsOf(invoices, mail) })
    return texts.subject
  })

  return Effect.fn("mail/send")(function*(run: MailRun) {
    const mail = openMail(settings.keyring, run.organizationId, run.input)
    if (mail === undefined) {
      return yield* Effect.fail(new GiveUp("No key of STOA_SECRETS_KEY opens this mail, or it is of a newer version."))
    }
    const note: MailNote | undefined = yield* held(run, mail)
    if (note !== undefined) {
      yield* countMail(mail.template, "suppressed" in note ? "suppressed" : "skipped")
      if ("skipped" in note) yield* recordOutcome(run, mail, { outcome: "skipped", failure: note.skipped })
      return note
    }
    const [taken, result] = yield* Effect.timed(Effect.result(deliver(run, mail)))
    const millis = Duration.toMillis(taken)
    if (result._tag === "Success") {
      yield* countMail(mail.template, "sent", millis)
      yield* recordOutcome(run, mail, { outcome: "sent", subject: result.success })
      return { sent: true } as const
    }
    const { _tag, message } = result.failure
    const refused = _tag === "MailRefused"
    yield* countMail(mail.template, refused ? "refused" : "delayed", millis)
    if (refused || run.attemptNumber >= run.maxAttempts) {
      yield* Effect.logWarning(`a mail ${mail.template} was not sent: ${message}`)
      yield* recordOutcome(run, mail, { outcome: "failed", failure: message })
    }
    return yield* Effect.fail(refused ? new GiveUp(message) : result.failure)
  })
})

const decode = Schema.decodeUnknownEffect(EncryptedMail)

/** The task `mail/send`: one try to send one mail (docs/mail.md). */
export const sendMail: Effect.Effect<
  Task,
  never,
  Jobs | Mails | MailChoices | Invoices | OrderMailRepo | MailSettings | MailTransport
> = Effect.map(makeDelivery, (deliver) =>
  defineTask({
    slug: sendMailSlug,
    queue: mailQueue,
    retries: mailRetries,
    handler: Effect.fnUntraced(function*({ ctx, input, job }) {
      const encrypted = yield* Effect.mapError(decode(input), () => new GiveUp("The input is no encrypted mail."))
      const output = yield* deliver({
        jobId: job.id,
        organizationId: ctx.organizationId,
        input: encrypted,
        attemptNumber: job.attemptNumber,
        maxAttempts: job.maxAttempts
      })
      return { output }
    })
  }))
