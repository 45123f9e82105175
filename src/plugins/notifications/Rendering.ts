import type { Channel } from "./Channel.ts"

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&#39;"
}
const signs = new Map(Object.entries(escapes).map(([sign, name]) => [name, sign]))

/** A text as HTML shows it. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => escapes[sign] ?? sign)

/** HTML as a text: what a mail shows to those who read no HTML. */
export const textOfHtml = (html: string): string =>
  html.replace(/<(br|\/p|\/div|\/h\d|\/li|hr)\b[^>]*>/gi, "\n").replace(/<[^>]*>/g, "")
    .replace(/&(?:amp|lt|gt|quot|#39);/g, (name) => signs.get(name) ?? name).replace(/\n{3,}/g, "\n\n").trim()

/** The value at a path of properties that the data itself has, else null. */
export const valueAt = (data: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>(
    (value, name) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : null,
    data
  )

/** A text, a number or a boolean; anything else is empty. */
const textAt = (data: unknown, path: string): string => {
  const value = valueAt(data, path)
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : ""
}

/** Replaces `{{a.b}}` by the values of the data; what is missing is empty. */
export const filled = (template: string, data: unknown, write: (text: string) => string): string =>
  template.replace(/\{\{\s*([\w-]+(?:\.[\w-]+)*)\s*\}\}/g, (_, path: string) => write(textAt(data, path)))

/** What a message says. */
export interface Rendered {
  readonly subject: string | null
  readonly body: string
}

/** Texts of a message are cut off at this length, so that a template with long values cannot fill the table. */
const longest = 10_000

/**
 * Fills `{{a.b}}` with values of the data; what is missing is empty. The body of a mail is HTML, in which values are
 * escaped. Subjects and all other channels are plain text.
 */
export const render = (
  { bodyTemplate, channel, subject }: {
    readonly channel: Channel
    readonly subject: string | null
    readonly bodyTemplate: string
  },
  data: unknown
): Rendered => ({
  subject: subject === null ? null : filled(subject, data, (text) => text.replace(/[\p{Cc}]+/gu, " ")).slice(0, 255),
  body: filled(bodyTemplate, data, channel === "email" ? escaped : (text) => text).slice(0, longest)
})
