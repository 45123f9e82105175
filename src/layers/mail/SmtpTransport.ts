import { Effect, Layer, Record, Redacted, Semaphore } from "effect"
import type { SmtpSettings } from "../config/MailConfig.ts"
import { MailDelayed, MailRefused, MailTransport, type OutgoingMail, withoutPrivate } from "./MailTransport.ts"

interface SmtpFailure {
  readonly code?: string
  readonly responseCode?: number
  readonly response?: string
  readonly message?: string
}

/** Replies about the session, not the mail: once the operator fixes it, the mail goes out. */
const sessionReplies = new Set([503, 530, 534, 535, 538])

/** Permanent: 5yz to the envelope or the message (RFC 5321, 4.2.1). Everything else is retried. */
const isPermanent = ({ code, responseCode }: SmtpFailure): boolean =>
  (code === "EENVELOPE" || code === "EMESSAGE") &&
  (responseCode === undefined || (responseCode >= 500 && responseCode < 600 && !sessionReplies.has(responseCode)))

const errorOf = (failure: unknown): MailRefused | MailDelayed => {
  const recorded: SmtpFailure = typeof failure === "object" && failure !== null ? failure : {}
  const message = withoutPrivate(recorded.response ?? `${recorded.code ?? ""} ${recorded.message ?? ""}`)
  return isPermanent(recorded)
    ? new MailRefused({ message: `The mail server refused it: ${message}` })
    : new MailDelayed({ message: `The mail server did not take it: ${message}` })
}

const tlsOf = ({ ca, secure, starttls }: SmtpSettings) => ({
  ...(ca === undefined ? {} : { tls: { ca } }),
  secure,
  requireTLS: !secure && starttls === "required",
  ignoreTLS: starttls === "never"
})

const poolOf = (smtp: SmtpSettings) =>
  Effect.acquireRelease(
    Effect.map(Effect.promise(() => import("nodemailer")), ({ createTransport }) =>
      createTransport({
        pool: true,
        host: smtp.host,
        port: smtp.port,
        ...tlsOf(smtp),
        ...(smtp.login === undefined
          ? {}
          : { auth: { user: smtp.login.user, pass: Redacted.value(smtp.login.pass) } }),
        maxConnections: smtp.connections,
        maxRequeues: 1,
        connectionTimeout: smtp.connectTimeoutMs,
        greetingTimeout: smtp.connectTimeoutMs,
        dnsTimeout: smtp.connectTimeoutMs,
        socketTimeout: smtp.answerTimeoutMs,
        // No part of a mail is read from a file or an address.
        disableFileAccess: true,
        disableUrlAccess: true
      })),
    (pool) => Effect.sync(() => pool.close({ force: true }))
  )

type Pool = Effect.Success<ReturnType<typeof poolOf>>

const messageOf = (
  { attachments, fromName, headers, html, mail, messageId, subject, text }: OutgoingMail,
  from: string
) => ({
  from: { name: fromName, address: from },
  to: { name: "", address: mail.to },
  subject,
  text,
  html,
  attachments: attachments.map(({ content, contentType, fileName }) => ({
    filename: fileName,
    contentType,
    content: Buffer.from(content)
  })),
  messageId: `<${messageId}>`,
  // No holiday notice answers it (RFC 3834).
  headers: {
    // Not folded: some mailboxes read the link from one line only.
    ...Record.map(headers, (value) => ({ prepared: true, value })),
    "auto-submitted": "auto-generated"
  }
})

const send = (pool: Pool, { from, sendTimeoutMs }: SmtpSettings, outgoing: OutgoingMail) =>
  Effect.tryPromise({
    try: (signal) => pool.sendMail({ ...messageOf(outgoing, from), signal }),
    catch: errorOf
  }).pipe(
    Effect.timeoutOrElse({
      duration: sendTimeoutMs,
      orElse: () =>
        Effect.fail(new MailDelayed({ message: `The mail server took longer than ${sendTimeoutMs} ms to take it.` }))
    }),
    Effect.asVoid
  )

/** Sends over a pool of connections. A mail without one waits outside the library, so its time does not run. */
export const smtpTransport = (smtp: SmtpSettings): Layer.Layer<MailTransport> =>
  Layer.effect(
    MailTransport,
    Effect.gen(function*() {
      const pool = yield* poolOf(smtp)
      const slots = yield* Semaphore.make(smtp.connections)
      return {
        deliver: Effect.fn("MailTransport.deliver")((outgoing: OutgoingMail) =>
          slots.withPermit(send(pool, smtp, outgoing))
        )
      }
    })
  )
