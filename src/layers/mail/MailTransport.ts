import { Context, type Effect } from "effect"
import type { Mail } from "../../domain/mail/Mail.ts"
import type { MailDelayed, MailRefused } from "./MailError.ts"

/** The texts of a mail. */
export interface RenderedMail {
  /** One line. */
  readonly subject: string
  readonly text: string
  /** A whole document. */
  readonly html: string
}

/** A file that is sent with a mail. */
export interface MailAttachment {
  readonly fileName: string
  readonly contentType: string
  readonly content: Uint8Array
}

/** A mail as it leaves. */
export interface OutgoingMail extends RenderedMail {
  readonly mail: Mail
  /**
   * Without brackets; the same for every try of one job, so that a receiver knows a mail again that was handed over
   * twice.
   */
  readonly messageId: string
  /** Name of the sender. */
  readonly fromName: string
  readonly attachments: ReadonlyArray<MailAttachment>
}

/** The way out for mails: a server, an adapter of the deployment, or files. */
export class MailTransport extends Context.Service<MailTransport, {
  readonly deliver: (mail: OutgoingMail) => Effect.Effect<void, MailRefused | MailDelayed>
}>()("stoa/layers/mail/MailTransport") {}
