import { Effect, Layer } from "effect"
import { GiveUp } from "../../domain/jobs/Task.ts"
import type { Mail } from "../../domain/mail/Mail.ts"
import { MailDelayed, MailRefused, MailTransport, type OutgoingMail, withoutPrivate } from "./MailTransport.ts"

/** The argument of an adapter: the template with its data, and the texts that Stoa would send. */
export interface AdapterMail {
  readonly template: Mail["template"]
  readonly to: string
  readonly data: Mail["data"]
  readonly organizationId: string
  /** The same for every attempt of one mail: an idempotency key. */
  readonly messageId: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly attachments: OutgoingMail["attachments"]
}

/**
 * Sends mails for a deployment (contract, platform §3, `email.send`). Every failure, exception and rejection is retried,
 * except a `GiveUp`.
 */
export type MailAdapter = (mail: AdapterMail) => Effect.Effect<unknown, unknown> | Promise<unknown>

const adapterMail = (
  { fromName: _, mail: { data, organizationId, template, to }, ...rest }: OutgoingMail
): AdapterMail => ({
  template,
  to,
  data,
  organizationId,
  ...rest
})

const errorOf = (error: unknown) => {
  const message = withoutPrivate(error instanceof Error ? error.message : String(error))
  return error instanceof GiveUp ? new MailRefused({ message }) : new MailDelayed({ message })
}

/** An adapter returns an effect or a promise, or throws. */
const send = (adapter: MailAdapter, outgoing: OutgoingMail) =>
  Effect.suspend(() => {
    const made = adapter(adapterMail(outgoing))
    return Effect.isEffect(made)
      ? Effect.mapError(made, errorOf)
      : Effect.tryPromise({ try: () => made, catch: errorOf })
  })

/** Mails over an adapter of the deployment. */
export const adapterTransport = (adapter: MailAdapter): Layer.Layer<MailTransport> =>
  Layer.succeed(MailTransport, {
    deliver: Effect.fn("MailTransport.deliver")((outgoing: OutgoingMail) =>
      Effect.asVoid(send(adapter, outgoing)).pipe(Effect.catchDefect((defect) => Effect.fail(errorOf(defect))))
    )
  })
