import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { definePlugin, group, mailTemplate, Text } from "stoa/plugin"
import type { AdapterMail } from "../../src/layers/mail/MailTransport.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { anOrganization } from "../support/Organizations.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"

const texts = { en: ({ word }: { readonly word: string }) => ({ subject: word, paragraphs: [word] }) }
const data = Schema.Struct({ word: Schema.String })
const about = { data, sample: { word: "Hello" }, texts }

const news = mailTemplate({ name: "letters/news", purpose: { category: "news" }, ...about })
const offers = mailTemplate({
  name: "letters/offers",
  purpose: { category: "offers" },
  data,
  sample: { word: "Hello" },
  texts: { en: ({ word }) => ({ subject: word, text: word, html: `<html><body><p>${word}</p></body></html>` }) }
})
const receipt = mailTemplate({ name: "letters/receipt", purpose: "transactional", ...about })
const stated = mailTemplate({ name: "letters/stated", purpose: "ofEachMail", ...about })

const Sent = Schema.Struct({ to: Text, kind: Schema.Literals(["news", "offers", "receipt", "stated"]) })
const letters = definePlugin({
  id: "letters",
  version: "1.0.0",
  mailTemplates: [news, offers, receipt, stated],
  routes: () => [
    group("Letters", "/letters").post("/", { auth: true, input: Sent }).handle(({ input: { kind, to }, services }) => {
      const { send } = services.mail
      const mail = { to, data: { word: kind } }
      const sending = {
        news: () => send(news, mail),
        offers: () => send(offers, mail),
        receipt: () => send(receipt, mail),
        stated: () => send(stated, { ...mail, purpose: { category: "offers" } })
      }
      return Effect.as(sending[kind](), {})
    })
  ]
})

const sent: Array<AdapterMail> = []
const shop = testAppLayer({
  plugins: [letters],
  server: { publicUrl: "https://shop.example" },
  email: { send: (mail: AdapterMail) => Promise.resolve(sent.push(mail)) }
})

type Kind = typeof Sent.Type["kind"]
const mail = (to: string, kind: Kind, as = asAdmin) => api("POST", "/api/letters", { as, body: { to, kind } })
const mailTo = (to: string, kind: Kind) =>
  eventually(`mail ${kind} to ${to}`, Effect.sync(() => sent.findLast((one) => one.to === to && one.subject === kind)))

const linkOf = ({ headers }: AdapterMail) => headers["List-Unsubscribe"]?.slice(1, -1) ?? ""
const pathOf = (one: AdapterMail) => linkOf(one).slice("https://shop.example".length)

/** The link of a mail of this kind, as its receiver has it. */
const aLink = (to: string, kind: Kind, as?: typeof asAdmin) =>
  Effect.suspend(() => {
    sent.length = 0
    return mail(to, kind, as)
  }).pipe(Effect.andThen(mailTo(to, kind)), Effect.map(pathOf))

const oneClick = (path: string) =>
  api("POST", path, {
    body: "List-Unsubscribe=One-Click",
    headers: { "content-type": "application/x-www-form-urlencoded" }
  })

const suppressedJobs = (kind: Kind, count: number) =>
  eventually(
    `${count} suppressed mails ${kind}`,
    Effect.map(
      onDatabase((sql) =>
        sql<{ readonly output: unknown }>`select output from commerce_jobs
          where task_slug = 'mail/send' and input->>'template' = ${`letters/${kind}`} and output ? 'suppressed'`
      ),
      (rows) => rows.length >= count ? rows : undefined
    )
  )

layer(shop, live)("a mail that is not about an order", (it) => {
  it.effect("has a link in headers, text and HTML, which a mail about an order has not", () =>
    Effect.gen(function*() {
      const to = "ann@home.example"
      for (const kind of ["news", "offers", "stated"] as const) {
        yield* mail(to, kind)
        const found = yield* mailTo(to, kind)
        const link = linkOf(found)
        assert.match(link, /^https:\/\/shop\.example\/api\/mail\/unsubscribe\?token=[\w.-]+$/)
        assert.strictEqual(found.headers["List-Unsubscribe-Post"], "List-Unsubscribe=One-Click")
        assert.include(found.text, link)
        assert.match(found.html, new RegExp(`<a href="${link.replace("?", "\\?")}"[\\s\\S]*</body>`))
      }
      yield* mail(to, "receipt")
      const plain = yield* mailTo(to, "receipt")
      assert.deepStrictEqual(plain.headers, {})
      assert.notInclude(plain.text + plain.html, "nsubscribe")
    }))

  it.effect("is declined by one click for its address and category alone, and not by opening the link", () =>
    Effect.gen(function*() {
      const path = yield* aLink("bea@home.example", "offers")
      for (let opened = 0; opened < 2; opened++) {
        const page = yield* api("GET", path)
        assert.strictEqual(page.status, 200)
        assert.include(String(page.body), `<form method="post">`)
      }
      const again = yield* aLink("bea@home.example", "stated")
      const clicks = yield* Effect.all([oneClick(path), oneClick(path), oneClick(again)], { concurrency: 3 })
      assert.deepStrictEqual(clicks.map(({ status }) => status), [200, 200, 200])
      // However the address is written, and from whichever template of the category.
      yield* mail("Bea@Home.example", "offers")
      yield* mail("bea@home.example", "stated")
      yield* suppressedJobs("offers", 1)
      yield* suppressedJobs("stated", 1)
      sent.length = 0
      yield* mail("bea@home.example", "news")
      yield* mail("bea@home.example", "receipt")
      yield* mail("cid@home.example", "offers")
      yield* mailTo("bea@home.example", "news")
      yield* mailTo("bea@home.example", "receipt")
      yield* mailTo("cid@home.example", "offers")
      assert.notInclude(sent.map(({ subject, to }) => `${subject} ${to}`), "offers bea@home.example")
    }))

  it.effect("has a link that no one can make, and that shows nothing of its receiver", () =>
    Effect.gen(function*() {
      const [one, other] = [yield* aLink("dan@home.example", "news"), yield* aLink("dan@home.example", "news")]
      assert.notStrictEqual(one, other)
      const [keyId = "", encrypted = ""] = one.slice(one.indexOf("=") + 1).split(".")
      const bytes = Buffer.from(encrypted, "base64url")
      assert.notMatch(bytes.toString("latin1"), /dan|home|org_default|news/)
      const changed = Buffer.from(bytes)
      changed[20] = (changed[20] ?? 0) ^ 1
      for (const token of [`${keyId}.${changed.toString("base64url")}`, "x", `${keyId}.`, `00000000.${encrypted}`]) {
        for (const method of ["GET", "POST"]) {
          assert.strictEqual((yield* api(method, `/api/mail/unsubscribe?token=${token}`)).status, 404, token)
        }
      }
      const rows = yield* onDatabase((sql) => sql<{ readonly row: string }>`select c::text as row from mail_choices c`)
      assert.isAbove(rows.length, 0)
      assert.notMatch(JSON.stringify(rows), /home\.example/)
    }))

  it.effect("is declined in the store that sent it alone", () =>
    Effect.gen(function*() {
      const as = yield* anOrganization
      const path = yield* aLink("eve@home.example", "news", as)
      assert.strictEqual((yield* oneClick(path)).status, 200)
      yield* mail("eve@home.example", "news", as)
      yield* suppressedJobs("news", 1)
      sent.length = 0
      yield* mail("eve@home.example", "news")
      assert.strictEqual((yield* mailTo("eve@home.example", "news")).organizationId, "org_default")
      const entries = yield* onDatabase((sql) =>
        sql<{ readonly organizationId: string; readonly payload: object }>`select organization_id as "organizationId",
          payload from outbox_events where type = 'mailChoices.decline' and organization_id = ${as.organizationId}`
      )
      assert.lengthOf(entries, 1)
      assert.hasAllKeys(entries[0]?.payload, ["id", "category"])
    }))
})
