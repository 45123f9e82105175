import { Context, Duration, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { Invoices } from "../invoices/Invoices.ts"
import { Jobs } from "../jobs/Jobs.ts"
import { GiveUp } from "../jobs/Task.ts"
import { type Mail, Mails } from "./Mail.ts"
import { countMail } from "./MailMetrics.ts"
import { MailSettings } from "./MailSettings.ts"
import { renderMail } from "./MailTexts.ts"
import { MailDelayed, MailRefused, MailTransport } from "./MailTransport.ts"
import { withoutPrivate } from "./MailTrouble.ts"
import { OrderMailRepo } from "./OrderMailRepo.ts"
import { mailQueue, sendMailSlug } from "./QueuedMails.ts"
import { openMail, type SealedMail } from "./SealedMail.ts"

/** One run of the task `mail/send`. */
export interface MailRun {
  readonly jobId: string
  readonly organizationId: string
  readonly input: SealedMail
  readonly attemptNumber: number
  readonly maxAttempts: number
}

/** What a run did, as its job keeps it. */
export type MailNote =
  | { readonly sent: true }
  | { readonly skipped: string }
  | { readonly waiting: string }

/** How often a confirmation is put off, a minute at most each time: about a day. */
const timeout = 1_440

/** A payment is seldom awaited for more than a moment, and sometimes for an hour. */
const postponedBy = (times: number): number => Math.min(60_000, 2_000 * 2 ** Math.min(times, 10))

/** Drawn for every try anew, so that no job carries a file. An order that is gone has no invoice any more. */
const attachmentsOf = (invoices: Invoices["Service"], mail: Mail) =>
  mail.template !== "order-invoice" ? Effect.succeed([]) : invoices.fileToSend(mail.data.orderId).pipe(
    Effect.map(({ fileName, pdf }) => [{ fileName, contentType: "application/pdf", content: pdf }]),
    Effect.mapError(({ error }) => new MailRefused({ message: error.message }))
  )

const textsOf = (settings: MailSettings["Service"], run: MailRun, mail: Mail) =>
  Effect.try({
    try: () => ({
      ...renderMail(mail, settings),
      mail,
      messageId: `${run.input.mailId ?? run.jobId}@${settings.domain}`,
      fromName: settings.storeName
    }),
    // A writer of the deployment is at fault, and the next version of it may be in time for another try.
    catch: (error) => new MailDelayed({ message: `its template failed: ${withoutPrivate(String(error))}` })
  })

/** For the order's timeline; a mail that has left must not leave again because it could not be noted. */
const noting = (orders: OrderMailRepo["Service"]) => ({ input, jobId }: MailRun, mail: Mail, failure: string | null) =>
  "orderId" in mail.data
    ? orders.note({ id: input.mailId ?? jobId, orderId: mail.data.orderId, template: mail.template, failure }).pipe(
      Effect.catchDefect((defect) => Effect.logWarning("what became of a mail could not be noted", defect))
    )
    : Effect.void

/** Sends the mails of jobs, one try a run. */
export class MailDeliveries extends Context.Service<MailDeliveries, {
  readonly run: (run: MailRun) => Effect.Effect<MailNote, MailDelayed | GiveUp, CurrentActor>
}>()("stoa/domain/mail/MailDeliveries") {
  static readonly layer = Layer.effect(
    MailDeliveries,
    Effect.gen(function*() {
      const jobs = yield* Jobs
      const mails = yield* Mails
      const orders = yield* OrderMailRepo
      const invoices = yield* Invoices
      const settings = yield* MailSettings
      const transport = yield* MailTransport

      /** The same mail later, with the tries that it has left and the id that its message has. */
      const postpone = Effect.fnUntraced(
        function*({ attemptNumber, input, jobId, maxAttempts, organizationId }: MailRun) {
          const postponed = input.postponed ?? 0
          const again: SealedMail = { ...input, mailId: input.mailId ?? jobId, postponed: postponed + 1 }
          yield* jobs.enqueue(sendMailSlug, again, {
            organizationId,
            queue: mailQueue,
            delayMs: postponedBy(postponed),
            maxAttempts: maxAttempts - attemptNumber + 1
          }).pipe(Effect.catch(Effect.die))
          return { waiting: "the order is not paid yet" }
        }
      )

      /** Why a mail is not sent now, undefined when it is. An order that is never paid is not confirmed. */
      const held = Effect.fnUntraced(function*(run: MailRun, mail: Mail) {
        if (!mails.sends(mail.template)) return { skipped: "its template is switched off" }
        if (mail.template !== "order-confirmation") return undefined
        const state = yield* orders.paymentState(mail.data.orderId)
        if (state === "paid") return undefined
        if (state === "awaited" && (run.input.postponed ?? 0) < timeout) return yield* postpone(run)
        return { skipped: state === "given-up" ? "the order was cancelled" : "the order was never paid" }
      })

      const note = noting(orders)

      const outgoing = (run: MailRun, mail: Mail) =>
        Effect.zipWith(
          textsOf(settings, run, mail),
          attachmentsOf(invoices, mail),
          (texts, attachments) => ({ ...texts, attachments })
        )

      const last = ({ attemptNumber, maxAttempts }: MailRun) => attemptNumber >= maxAttempts

      const run = Effect.fn("MailDeliveries.run")(function*(run: MailRun) {
        const mail = openMail(settings.keyring, run.organizationId, run.input)
        if (mail === undefined) {
          return yield* Effect.fail(
            new GiveUp("No key of STOA_SECRETS_KEY opens this mail, or it is of a newer version.")
          )
        }
        const kept: MailNote | undefined = yield* held(run, mail)
        if (kept !== undefined) {
          yield* countMail(mail.template, "skipped")
          return kept
        }
        const handOver = Effect.flatMap(outgoing(run, mail), transport.deliver)
        const [taken, ending] = yield* Effect.timed(Effect.result(handOver))
        const millis = Duration.toMillis(taken)
        if (ending._tag === "Success") {
          yield* countMail(mail.template, "sent", millis)
          yield* note(run, mail, null)
          return { sent: true } as const
        }
        const { _tag, message } = ending.failure
        const refused = _tag === "MailRefused"
        yield* countMail(mail.template, refused ? "refused" : "delayed", millis)
        if (refused || last(run)) {
          yield* Effect.logWarning(`a mail ${mail.template} was not sent: ${message}`)
          yield* note(run, mail, message)
        }
        return yield* Effect.fail(refused ? new GiveUp(message) : ending.failure)
      })

      return { run }
    })
  )
}
