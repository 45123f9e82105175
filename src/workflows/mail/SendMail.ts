import { Effect, Schema } from "effect"
import { defineTask, GiveUp, type Task } from "../../domain/jobs/Task.ts"
import { MailDeliveries } from "../../domain/mail/MailDeliveries.ts"
import { mailRetries } from "../../domain/mail/MailRetries.ts"
import { mailQueue, sendMailSlug } from "../../domain/mail/QueuedMails.ts"
import { SealedMail } from "../../domain/mail/SealedMail.ts"

const decode = Schema.decodeUnknownEffect(SealedMail)

/** The task `mail/send`: one mail (docs/mail.md). */
export const sendMail: Effect.Effect<Task, never, MailDeliveries> = Effect.map(
  MailDeliveries,
  (deliveries) =>
    defineTask({
      slug: sendMailSlug,
      queue: mailQueue,
      retries: mailRetries,
      handler: Effect.fn("mail/send")(function*({ ctx, input, job }) {
        // What the input lacks is named by its place: it may hold anything, and the error is seen by others.
        const sealed = yield* Effect.mapError(decode(input), () => new GiveUp("The input is no sealed mail."))
        const output = yield* deliveries.run({
          jobId: job.id,
          organizationId: ctx.organizationId,
          input: sealed,
          attemptNumber: job.attemptNumber,
          maxAttempts: job.maxAttempts
        })
        return { output }
      })
    })
)
