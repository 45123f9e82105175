import { Context, Data, type Effect } from "effect"
import type { Mail } from "../../domain/mail/Mail.ts"

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

/** A mail to send. */
export interface OutgoingMail extends RenderedMail {
  readonly mail: Mail
  /** Without brackets; the same for every attempt, so that a receiver detects a mail that was sent twice. */
  readonly messageId: string
  /** Name of the sender. */
  readonly fromName: string
  readonly attachments: ReadonlyArray<MailAttachment>
}

/** The mail can never be delivered: it is not tried again. `message` holds neither an address nor a link. */
export class MailRefused extends Data.TaggedError("MailRefused")<{ readonly message: string }> {}

/** The mail could not be delivered this time. `message` holds neither an address nor a link. */
export class MailDelayed extends Data.TaggedError("MailDelayed")<{ readonly message: string }> {}

/** Links, addresses, and words long enough to be a key: refusals of servers repeat what was sent. */
const privateWords = /\b[a-z][a-z0-9+.-]*:\/\/\S+|[^\s<>"']+@[^\s<>"']+|[\w+/=-]{24,}/gi

/** Makes a server's message safe for logs and jobs: one line without links, addresses and keys. */
export const withoutPrivate = (text: string): string =>
  text.replace(privateWords, "…").replace(/[\p{Cc}\s]+/gu, " ").trim().slice(0, 300).toWellFormed() || "no reason given"

/** Sends mails: over a server, an adapter of the deployment, or to files. */
export class MailTransport extends Context.Service<MailTransport, {
  readonly deliver: (mail: OutgoingMail) => Effect.Effect<void, MailRefused | MailDelayed>
}>()("stoa/layers/mail/MailTransport") {}
