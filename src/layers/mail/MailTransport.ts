import { Context, Data, Effect, Layer } from "effect"
import { mkdir, readdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Mail } from "../../domain/mail/Mail.ts"
import type { RenderedMail } from "../../domain/mail/MailContent.ts"
import { GiveUp } from "../../domain/platform/tasks/Task.ts"

export interface MailAttachment {
  readonly fileName: string
  readonly contentType: string
  readonly content: Uint8Array
}

export interface OutgoingMail extends RenderedMail {
  readonly mail: Mail
  /** Without brackets; the same for every attempt, so receivers detect duplicates. */
  readonly messageId: string
  readonly fromName: string
  readonly attachments: ReadonlyArray<MailAttachment>
  /** Headers of this mail alone, such as `List-Unsubscribe`. */
  readonly headers: Readonly<Record<string, string>>
}

/** Never deliverable: not tried again. `message` has neither an address nor a link. */
export class MailRefused extends Data.TaggedError("MailRefused")<{ readonly message: string }> {}

/** Not deliverable now. `message` has neither an address nor a link. */
export class MailDelayed extends Data.TaggedError("MailDelayed")<{ readonly message: string }> {}

/** Links, addresses, and words as long as a key: servers repeat what was sent. */
const privateWords = /\b[a-z][a-z0-9+.-]*:\/\/\S+|[^\s<>"']+@[^\s<>"']+|[\w+/=-]{24,}/gi

export const withoutPrivate = (text: string): string =>
  text.replace(privateWords, "…").replace(/[\p{Cc}\s]+/gu, " ").trim().slice(0, 300).toWellFormed() || "no reason given"

export class MailTransport extends Context.Service<MailTransport, {
  readonly deliver: (mail: OutgoingMail) => Effect.Effect<void, MailRefused | MailDelayed>
}>()("stoa/layers/mail/MailTransport") {}

export interface AdapterMail {
  readonly template: Mail["template"]
  readonly to: string
  readonly data: Mail["data"]
  readonly organizationId: string
  /** The same for every attempt: an idempotency key. */
  readonly messageId: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly attachments: OutgoingMail["attachments"]
  /** To be sent with the mail, covered by its DKIM signature. */
  readonly headers: OutgoingMail["headers"]
}

/** Sends mails for a deployment (contract, platform §3, `email.send`). Every failure is retried, except a `GiveUp`. */
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

const send = (adapter: MailAdapter, outgoing: OutgoingMail) =>
  Effect.suspend(() => {
    const made = adapter(adapterMail(outgoing))
    return Effect.isEffect(made)
      ? Effect.mapError(made, errorOf)
      : Effect.tryPromise({ try: () => made, catch: errorOf })
  })

export const adapterTransport = (adapter: MailAdapter): Layer.Layer<MailTransport> =>
  Layer.succeed(MailTransport, {
    deliver: Effect.fn("MailTransport.deliver")((outgoing: OutgoingMail) =>
      Effect.asVoid(send(adapter, outgoing)).pipe(Effect.catchDefect((defect) => Effect.fail(errorOf(defect))))
    )
  })

const maxFiles = 500

const failed = (error: unknown) =>
  new MailDelayed({ message: `The file could not be written: ${error instanceof Error ? error.message : "unknown"}` })

const fileOf = ({ attachments, fromName, headers, html, mail, messageId, subject, text }: OutgoingMail): string => {
  const boundary = `stoa-${messageId.replace(/\W/g, "-")}`
  const part = (type: string, body: string) =>
    `--${boundary}\nContent-Type: ${type}; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n${body}\n`
  const file = ({ content, contentType, fileName }: OutgoingMail["attachments"][number]) =>
    `--${boundary}-files\nContent-Type: ${contentType}\nContent-Disposition: attachment; filename="${fileName}"\n` +
    `Content-Transfer-Encoding: base64\n\n${Buffer.from(content).toString("base64").replace(/.{76}/g, "$&\n")}\n`
  const texts = `Content-Type: multipart/alternative; boundary="${boundary}"\n\n` +
    `${part("text/plain", text)}${part("text/html", html)}--${boundary}--\n`
  const body = attachments.length === 0
    ? texts
    : `Content-Type: multipart/mixed; boundary="${boundary}-files"\n\n--${boundary}-files\n${texts}\n` +
      `${attachments.map(file).join("")}--${boundary}-files--\n`
  return `From: ${fromName} <no-reply@localhost>\nTo: ${mail.to}\nSubject: ${subject}\nMessage-ID: <${messageId}>\n` +
    `X-Template: ${mail.template}\n${
      Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`).join("")
    }MIME-Version: 1.0\n${body}`
}

const linkOf = ({ mail }: OutgoingMail): string | undefined =>
  mail.template === "password-reset"
    ? mail.data.resetUrl
    : mail.template === "email-verification"
    ? mail.data.verifyUrl
    : undefined

const removeOld = async (folder: string) => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const files = (await readdir(folder)).filter((name) => name.endsWith(".eml")).toSorted()
  for (const name of files.slice(0, Math.max(0, files.length - maxFiles))) await rm(join(folder, name), { force: true })
}

/** Templates of plugins have names with a slash. */
const fileWord = (name: string): string => name.replaceAll("/", "-").replace(/[^\w-]/g, "")

/** Development: a file per mail, and a log line with its link. A retry rewrites the file. */
export const fileTransport = (folder: string): Layer.Layer<MailTransport> =>
  Layer.effect(
    MailTransport,
    Effect.gen(function*() {
      yield* Effect.ignore(Effect.tryPromise({ try: () => removeOld(folder), catch: failed }))
      return {
        deliver: Effect.fn("MailTransport.deliver")(function*(outgoing: OutgoingMail) {
          const { mail, messageId } = outgoing
          const file = join(folder, `${fileWord(messageId.replace(/@.*/, ""))}-${fileWord(mail.template)}.eml`)
          yield* Effect.tryPromise({
            try: async () => {
              await mkdir(folder, { recursive: true, mode: 0o700 })
              await writeFile(file, fileOf(outgoing), { mode: 0o600 })
            },
            catch: failed
          })
          yield* Effect.logInfo(
            `mail ${mail.template} to ${mail.to}: ${linkOf(outgoing) ?? outgoing.subject} (${file})`
          )
        })
      }
    })
  )
