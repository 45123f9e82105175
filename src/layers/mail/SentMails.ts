import { Duration, Effect, Metric, Schema } from "effect"
import { Invoices } from "../../domain/invoices/Invoices.ts"
import { declineHeaders, type MailCategory } from "../../domain/mail/DeclineLink.ts"
import { isPluginMail, type Mail, Mails, type MailTemplate } from "../../domain/mail/Mail.ts"
import { MailChoices } from "../../domain/mail/MailChoices.ts"
import { type NotedMail, OrderMailRepo } from "../../domain/mail/OrderMailRepo.ts"
import { Jobs } from "../../domain/platform/jobs/Jobs.ts"
import { defineTask, GiveUp, type Task } from "../../domain/platform/tasks/Task.ts"
import { EncryptedMail, openMail } from "./MailEncryption.ts"
import { MailSettings, renderMail } from "./MailTexts.ts"
import { MailDelayed, MailRefused, MailTransport, withoutPrivate } from "./MailTransport.ts"
import { contentOf, mailQueue, mailRetries, noteOf, sendMailSlug } from "./QueuedMails.ts"

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
