import { Effect, Layer } from "effect"
import { GiveUp } from "../../domain/jobs/Task.ts"
import type { Mail } from "../../domain/mail/Mail.ts"
import { MailDelayed, MailRefused, withoutPrivate } from "./MailError.ts"
import { MailTransport, type OutgoingMail } from "./MailTransport.ts"

/** What an adapter is given: the template with its data, and the texts that Stoa would send. */
export interface AdapterMail {
  readonly template: Mail["template"]
  readonly to: string
  readonly data: Mail["data"]
  readonly organizationId: string
  /** The same for every try of one mail; a key for whoever can tell repeated ones. */
  readonly messageId: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly attachments: OutgoingMail["attachments"]
}

/**
 * Sends mails in a deployment's own way (contract, platform §3, `email.send`). Whatever it fails with, throws or rejects
 * with is tried again; a `GiveUp` is not.
 */
export type MailAdapter = (mail: AdapterMail) => Effect.Effect<unknown, unknown> | Promise<unknown>

const given = ({ attachments, html, mail, messageId, subject, text }: OutgoingMail): AdapterMail => ({
  template: mail.template,
  to: mail.to,
  data: mail.data,
  organizationId: mail.organizationId,
  messageId,
  subject,
  text,
  html,
  attachments
})

const errorOf = (error: unknown) => {
  const message = withoutPrivate(error instanceof Error ? error.message : String(error))
  return error instanceof GiveUp ? new MailRefused({ message }) : new MailDelayed({ message })
}

/** An adapter gives an effect or a promise, or throws before it does either. */
const asked = (send: MailAdapter, outgoing: OutgoingMail) =>
  Effect.suspend(() => {
    const made = send(given(outgoing))
    return Effect.isEffect(made)
      ? Effect.mapError(made, errorOf)
      : Effect.tryPromise({ try: () => made, catch: errorOf })
  })

/** Mails over an adapter of the deployment. */
export const adapterTransport = (send: MailAdapter): Layer.Layer<MailTransport> =>
  Layer.succeed(MailTransport, {
    deliver: Effect.fn("MailTransport.deliver")((outgoing: OutgoingMail) =>
      Effect.asVoid(asked(send, outgoing)).pipe(Effect.catchDefect((defect) => Effect.fail(errorOf(defect))))
    )
  })
