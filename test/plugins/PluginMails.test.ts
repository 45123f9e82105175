import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Conflict, definePlugin, group, mailTemplate, Text } from "stoa/plugin"
import { readSettings } from "../../src/layers/config/AppConfig.ts"
import { previewMail, previewTemplates } from "../../src/layers/mail/MailPreview.ts"
import type { AdapterMail } from "../../src/layers/mail/MailTransport.ts"
import { eventually } from "../support/Eventually.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const greeting = mailTemplate({
  name: "notes/greeting",
  purpose: "transactional",
  data: Schema.Struct({ note: Schema.String, at: Schema.DateFromString }),
  sample: { note: "Hello", at: new Date("2026-11-27T00:00:00Z") },
  texts: {
    en: ({ at, note }) => ({ subject: `Note of ${at.getUTCFullYear()}`, paragraphs: [note] }),
    de: ({ note }) => ({ subject: "Notiz", paragraphs: [note] })
  }
})

const routes = group("Notes", "/notes")
const Sent = Schema.Struct({
  to: Text,
  note: Text,
  locale: Schema.optional(Text),
  key: Schema.optional(Text),
  fail: Schema.optional(Schema.Boolean)
})

/** Mails a note, in a transaction that fails on demand. */
const notes = definePlugin({
  id: "notes",
  version: "1.0.0",
  mailTemplates: [greeting],
  routes: () => [
    routes.post("/", { auth: true, input: Sent }).handle(({ db, input: { fail, note, ...mail }, services }) =>
      services.mail.send(greeting, { ...mail, data: { note, at: new Date("2026-11-27T00:00:00Z") } }).pipe(
        Effect.andThen(fail === true ? Effect.fail(Conflict.of("No.")) : Effect.succeed({})),
        db.transaction
      )
    )
  ]
})

const sent: Array<AdapterMail> = []
const deployment = {
  plugins: [notes],
  email: {
    send: (mail: AdapterMail) => Promise.resolve(sent.push(mail)),
    templates: { fr: { "notes/greeting": () => ({ subject: "Note", paragraphs: ["Bonjour"] }) } }
  }
}

const post = (body: typeof Sent.Encoded) => api("POST", "/api/notes", { as: asAdmin, body })
const mailsTo = (to: string, count: number) =>
  eventually(
    `mails to ${to}`,
    Effect.sync(() => {
      const found = sent.filter((mail) => mail.to === to)
      return found.length >= count ? found : undefined
    })
  )

layer(testAppLayer(deployment), live)("a mail of a plugin", (it) => {
  it.effect("is laid out in the receiver's language, with its data escaped", () =>
    Effect.gen(function*() {
      yield* post({ to: "en@home.example", note: "<b>Hi</b>" })
      const [english] = yield* mailsTo("en@home.example", 1)
      assert.strictEqual(english?.subject, "Note of 2026")
      assert.include(english?.text ?? "", "<b>Hi</b>")
      assert.include(english?.html ?? "", "&lt;b&gt;Hi&lt;/b&gt;")
      yield* post({ to: "de@home.example", note: "Hi", locale: "de-AT" })
      assert.strictEqual((yield* mailsTo("de@home.example", 1))[0]?.subject, "Notiz")
      yield* post({ to: "fr@home.example", note: "Hi", locale: "fr" })
      assert.include((yield* mailsTo("fr@home.example", 1))[0]?.text ?? "", "Bonjour")
    }))

  it.effect("is sent once for its key, and exactly if the caller's transaction commits", () =>
    Effect.gen(function*() {
      const to = "once@home.example"
      assert.strictEqual((yield* post({ to, note: "never", fail: true })).status, 409)
      yield* Effect.all([1, 2, 3].map((n) => post({ to, note: `first ${n}`, key: "a" })), { concurrency: 3 })
      yield* post({ to, note: "again", key: "a" })
      yield* post({ to, note: "second", key: "b" })
      yield* mailsTo(to, 2)
      yield* post({ to: "last@home.example", note: "later" })
      yield* mailsTo("last@home.example", 1)
      const texts = sent.filter((mail) => mail.to === to).map(({ data }) => JSON.stringify(data).replace(/ \d/, ""))
      assert.deepStrictEqual(texts.map((text) => /"note":"(\w+)/.exec(text)?.[1]).sort(), ["first", "second"])
    }))

  it.effect("has a preview with its sample", () =>
    Effect.gen(function*() {
      const settings = yield* readSettings(deployment)
      assert.include(previewTemplates([notes]), "notes/greeting")
      assert.include(yield* previewMail(settings, "notes/greeting", "de"), "<title>Notiz</title>")
      assert.match((yield* Effect.flip(previewMail(settings, "notes/other", undefined))).message, /no such template/)
    }))
})
