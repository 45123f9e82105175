import { DateTime, Effect } from "effect"
import { invalid, LocalTimeZone } from "stoa/plugin"
import type { Channel } from "./Channel.ts"
import { type Manner, templateEngine } from "./TemplateEngine.ts"

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

const plain = templateEngine((text) => text)
const html = templateEngine(escaped)
const oneLine = templateEngine((text) => text.replace(/[\p{Cc}]+/gu, " "))

/** What a message says. */
export interface Rendered {
  readonly subject: string | null
  readonly body: string
}

/** 422: what a template of notifications cannot be filled with. */
export class NotFilled extends invalid(
  "NotFilled",
  (field: string, _reason: string) => field,
  (field: string, reason: string) => `${field} must be a template that can be filled: ${reason}.`
) {}

interface Texts {
  readonly subject: string | null
  readonly bodyTemplate: string
}

const bodyEngine = (channel: Channel) => channel === "email" ? html : plain

/** Refuses what is no template, which receivers would get as it stands. */
export const requireTemplates = Effect.fnUntraced(
  function*(texts: { readonly [K in keyof Texts]?: Texts[K] | undefined }) {
    for (const field of ["subject", "bodyTemplate"] as const) {
      const template = texts[field]
      const reason = typeof template === "string" ? plain.refusal(template) : undefined
      if (reason !== undefined) return yield* new NotFilled(field, reason)
    }
  }
)

/** Texts of a message are cut off at this length, so that a template with long values cannot fill the table. */
const longest = 10_000

/**
 * Fills a template with data; what is missing is empty. The body of a mail is HTML, in which values are escaped. Subjects and
 * all other channels are plain text.
 */
export const render = Effect.fnUntraced(function*(
  { bodyTemplate, channel, locale, subject }: Texts & { readonly channel: Channel; readonly locale: string },
  data: object
) {
  const manner: Manner = { locale, timeZone: DateTime.zoneToString(yield* LocalTimeZone) }
  const title = subject === null ? null : oneLine.fill(subject, data, manner)
  const body = bodyEngine(channel).fill(bodyTemplate, data, manner)
  if (title !== null && "reason" in title) return yield* new NotFilled("subject", title.reason)
  if ("reason" in body) return yield* new NotFilled("bodyTemplate", body.reason)
  const rendered: Rendered = { subject: title?.text.slice(0, 255) ?? null, body: body.text.slice(0, longest) }
  return rendered
})
