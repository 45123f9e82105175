import { Effect, Layer } from "effect"
import { mkdir, readdir, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { MailDelayed, MailTransport, type OutgoingMail } from "./MailTransport.ts"

/** Maximum number of files; older ones are removed at the next start. */
const maxFiles = 500

const failed = (error: unknown) =>
  new MailDelayed({ message: `The file could not be written: ${error instanceof Error ? error.message : "unknown"}` })

/** A message for mail programs and people: only attachments are encoded. */
const fileOf = ({ attachments, fromName, html, mail, messageId, subject, text }: OutgoingMail): string => {
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
    `X-Template: ${mail.template}\nMIME-Version: 1.0\n${body}`
}

const linkOf = ({ mail }: OutgoingMail): string | undefined =>
  mail.template === "password-reset"
    ? mail.data.resetUrl
    : mail.template === "email-verification"
    ? mail.data.verifyUrl
    : undefined

/** Message ids begin with their time, so names sort by it. */
const removeOld = async (folder: string) => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const files = (await readdir(folder)).filter((name) => name.endsWith(".eml")).toSorted()
  for (const name of files.slice(0, Math.max(0, files.length - maxFiles))) await rm(join(folder, name), { force: true })
}

/**
 * Mails of development: one file each in this folder, and a log line with the link to follow. A retry writes the same
 * file again.
 */
export const fileTransport = (folder: string): Layer.Layer<MailTransport> =>
  Layer.effect(
    MailTransport,
    Effect.gen(function*() {
      yield* Effect.ignore(Effect.tryPromise({ try: () => removeOld(folder), catch: failed }))
      return {
        deliver: Effect.fn("MailTransport.deliver")(function*(outgoing: OutgoingMail) {
          const { mail, messageId } = outgoing
          const file = join(folder, `${messageId.replace(/@.*/, "").replace(/[^\w-]/g, "")}-${mail.template}.eml`)
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
