import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { definePlugin, defineTask, group, mailTemplate, Text } from "stoa/plugin"
import type { AdapterMail } from "../../src/layers/mail/MailTransport.ts"
import { consoleAdapter, notifications } from "../../src/plugins/notifications/index.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { lastingRates } from "../support/LastingRates.ts"
import { api, asAdmin, asCustomer, live, testAppLayer } from "../support/TestApp.ts"

const parts = {
  data: Schema.Struct({}),
  sample: {},
  texts: { en: () => ({ subject: "Hello", paragraphs: [] }) }
}
const note = mailTemplate({ name: "letters/note", purpose: "transactional", ...parts })
const receipt = mailTemplate({ name: "letters/receipt", purpose: "order", ...parts })
const Sent = Schema.Struct({ to: Text, isOrder: Schema.optional(Schema.Boolean) })

const letters = definePlugin({
  id: "letters",
  version: "1.0.0",
  mailTemplates: [note, receipt],
  routes: () => [
    group("Letters", "/letters").post("/", { auth: true, input: Sent }).handle(({ input: { isOrder, to }, services }) =>
      Effect.as(services.mail.send(isOrder === true ? receipt : note, { to, data: {} }), {})
    ),
    group("Letters", "/letters").post("/later", { auth: true, input: Sent }).handle(({ input: { to }, jobs }) =>
      Effect.as(jobs.enqueue("letters/later", { to }), {})
    )
  ],
  tasks: () => [
    defineTask({
      slug: "letters/later",
      handler: ({ ctx, input }) => ctx.services.mail.send(note, { to: String(input["to"]), data: {} })
    })
  ]
})

const [ofShopper, toReceiver] = [3, 5]
const sent: Array<string> = []
const shop = testAppLayer({
  plugins: [letters, notifications({ adapters: [consoleAdapter("sms")] })],
  email: { send: (mail: AdapterMail) => Promise.resolve(sent.push(mail.to)) }
}, {
  rateLimits: lastingRates({ api: 100_000, mailsOfShopper: ofShopper, mailsToReceiver: toReceiver })
})

const post = (as: ReturnType<typeof asCustomer>, to: string, more: Partial<typeof Sent.Type> = {}) =>
  api("POST", "/api/letters", { as, body: { to, ...more } })

const statuses = (asked: ReadonlyArray<{ readonly status: number }>) => asked.map(({ status }) => status)
const times = <A>(count: number, make: (n: number) => A) => Array.from({ length: count }, (_, n) => make(n))

layer(shop, live)("mails that a shopper causes", (it) => {
  it.effect("are refused beyond a number of the shopper, to any receivers, with the time to wait", () =>
    Effect.gen(function*() {
      const as = asCustomer("user-many")
      const to = (n: number) => `many${n}@home.example`
      const asked = yield* Effect.all(times(ofShopper + 2, (n) => post(as, to(n))), { concurrency: 5 })
      assert.sameMembers(statuses(asked), [...times(ofShopper, () => 201), 429, 429])
      const refused = asked.find(({ status }) => status === 429)
      assert.strictEqual(refused?.text("error.code"), "TOO_MANY_REQUESTS")
      assert.isAbove(Number(refused?.headers.get("retry-after")), 0)
      assert.strictEqual((yield* post(asCustomer("user-other"), to(0))).status, 201)
      // Mails about paid orders are not counted, and neither are those of staff.
      assert.strictEqual((yield* post(as, to(0), { isOrder: true })).status, 201)
      const byStaff = yield* Effect.all(times(toReceiver + 1, () => post(asAdmin, to(0))))
      assert.deepStrictEqual(statuses(byStaff), times(toReceiver + 1, () => 201))
    }))

  it.effect("are refused beyond a number to one receiver, by any shoppers, and suppressed where a job sends them", () =>
    Effect.gen(function*() {
      const [to, last] = ["one@home.example", "last@home.example"]
      const asked = yield* Effect.all(times(toReceiver + 1, (n) => post(asCustomer(`user-one-${n}`), to)))
      assert.deepStrictEqual(statuses(asked), [...times(toReceiver, () => 201), 429])
      yield* api("POST", "/api/letters/later", { as: asAdmin, body: { to: to.toUpperCase() } })
      yield* eventually(
        "a suppressed mail",
        Effect.map(
          onDatabase((sql) =>
            sql`select 1 from commerce_jobs where task_slug = 'mail/send'
              and output->>'suppressed' = 'the receiver got too many mails'`
          ),
          (rows) => rows.length === 1 ? true : undefined
        )
      )
      yield* post(asCustomer("user-last"), to, { isOrder: true })
      yield* post(asCustomer("user-last"), last)
      yield* eventually("the last mails", Effect.sync(() => sent.includes(last) || undefined))
      yield* eventually(
        "all that were admitted",
        Effect.sync(() => sent.filter((one) => one === to).length === toReceiver + 1 || undefined)
      )
    }))
})

layer(shop, live)("messages of templates", (it) => {
  it.effect("are suppressed in the log beyond a number to one receiver", () =>
    Effect.gen(function*() {
      const template = { event: "customers.update", channel: "sms", bodyTemplate: "Hello {{customer.firstName}}" }
      yield* api("POST", "/api/notifications/templates", { as: asAdmin, body: template })
      const customer = { email: "sms@home.example", phone: "+15550123" }
      const id = (yield* api("POST", "/api/customers", { as: asAdmin, body: customer })).text("data.id")
      for (const firstName of times(toReceiver + 2, (n) => `Ann ${n}`)) {
        yield* api("PATCH", `/api/customers/${id}`, { as: asAdmin, body: { firstName } })
      }
      const log = (status: string) =>
        Effect.map(
          api("GET", `/api/notifications/log?customerId=${id}&status=${status}`, { as: asAdmin }),
          (got) => got
        )
      yield* eventually(
        "two suppressed messages",
        Effect.map(log("suppressed"), (got) => got.at("meta.pagination.total") === 2 || undefined)
      )
      assert.strictEqual((yield* log("suppressed")).at("data.0.error"), "The receiver has received too many messages.")
      yield* eventually(
        "the others",
        Effect.map(log("sent"), (got) => got.at("meta.pagination.total") === toReceiver || undefined)
      )
    }))
})
