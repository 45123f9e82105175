import { Effect, Schema } from "effect"
import {
  about,
  boolean,
  integerBetween,
  jsonOf,
  longText,
  oneOf,
  resource,
  type RowOf,
  StorableObject,
  table,
  text
} from "stoa/plugin"
import { channels } from "./Channel.ts"
import { admin, routes } from "./NotificationOptions.ts"
import { render, requireTemplates } from "./Rendering.ts"
import { SendWhile } from "./SendWhile.ts"

/** What is sent when an event happens, on a channel and in a language. */
export const templates = table("notification_templates", {
  event: text.about("Name of an event of the change log, or any other name, which only `POST /send` sends."),
  channel: oneOf(channels).about("Way of the message; in_app is the inbox of the customer."),
  locale: text.fewValues.default("en").about("Language of the text."),
  category: text.fewValues.default("general").about("Topic that customers decline, such as orders or marketing."),
  subject: text.nullable.about("Liquid template of the subject."),
  bodyTemplate: longText.about("Liquid template of the text."),
  isActive: boolean.default(true),
  delayMinutes: integerBetween(0, 525_600).default(0).about("Minutes between the event and the message."),
  digestMinutes: integerBetween(0, 43_200).default(0).about(
    "Minutes in which messages for one recipient are collected into one; 0: each is sent alone."
  ),
  sendWhile: jsonOf(SendWhile, 4_096).nullable.about(
    "Values that fields of the event's record must still have when the message is sent."
  ),
  printerId: text.nullable.about("Printer of the channel `print`.")
}, {
  strict: true,
  unique: [{ columns: ["event", "channel", "locale"] }],
  checks: {
    has_printer: "channel <> 'print' or printer_id is not null",
    // Messages of a digest are about several records.
    condition_of_one: "digest_minutes = 0 or send_while is null"
  }
})
export type Template = RowOf<typeof templates>

/** A language tag from the most to the least exact: `de-AT`, `de`, and the language of the deployment. */
const fallBacks = (locale: string | null, usual: string): ReadonlyArray<string> => {
  const parts = (locale ?? "").split("-")
  return [...parts.map((_, n) => parts.slice(0, parts.length - n).join("-")), usual].map((tag) => tag.toLowerCase())
}

/** Of templates of one event and channel the one in the best language; the first one where none fits. */
export const inLocale = (
  all: ReadonlyArray<Template>,
  locale: string | null,
  usual: string
): Template | undefined => {
  const found = fallBacks(locale, usual).flatMap((tag) => all.filter((one) => one.locale.toLowerCase() === tag))
  return found[0] ?? all[0]
}

/** Templates (contract, plugins §8). Deleting one turns it off, so that the log keeps what it names. */
export const templateRoutes = [
  ...resource(routes, "/templates", templates, {
    noun: "template",
    read: admin,
    write: admin,
    filters: ["event", "channel", "locale", "category", "isActive"],
    create: ({ db, input }) => Effect.andThen(requireTemplates(input), db.table(templates).insert(input)),
    patch: ({ db, input, which }) => Effect.andThen(requireTemplates(input), db.table(templates).update(which, input)),
    remove: ({ db, which }) => db.table(templates).update(which, { isActive: false })
  }),
  routes.post("/templates/:id/preview", {
    summary: "Preview a template with data",
    description: "Sends nothing. What the data lacks is empty. 404 without the template, 422 when it cannot be filled.",
    permission: admin,
    input: Schema.Struct({ data: Schema.optional(StorableObject) }),
    success: Schema.Struct({
      subject: Schema.NullOr(Schema.String).pipe(about("Filled subject; null: the template has none.")),
      body: Schema.String
    })
  }).handle(({ db, input, params }) =>
    Effect.flatMap(db.table(templates).get(params.id), (template) => render(template, input.data ?? {}))
  )
]
