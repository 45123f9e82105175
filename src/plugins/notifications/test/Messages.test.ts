import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { createHmac, randomUUID } from "node:crypto"
import { LocalTimeZone } from "stoa/plugin"
import { buildersOf, contractOf, testAdminActor, testCustomerActor, withPermissions } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { concernedOf } from "../MessagesRepo.ts"
import { render } from "../Rendering.ts"
import { inLocale, type Template } from "../Templates.ts"
import { type NotificationShop, openShop, provider } from "./NotificationShop.ts"

const secret = "a secret of the provider"
const [first, second] = [provider("first"), provider("second")]
const wait = { timeout: 30_000 }
let shop: NotificationShop
beforeAll(async () => {
  shop = await openShop({ adapters: [first.adapter, second.adapter], callbackSecret: secret, attempts: 3 })
})
afterAll(() => shop.close())

describe("the texts of a message", () => {
  const data = { a: { b: "<b>" }, c: 7, e: ["x", "y"], at: "2026-11-30T23:30:00Z", day: "2026-12-01", sum: 123_456 }
  const filled = (channel: "email" | "sms", bodyTemplate: string, locale = "en") =>
    render({ channel, bodyTemplate, locale, subject: "{{a.b}}\n{{no}}" }, data).pipe(
      Effect.provideService(LocalTimeZone, DateTime.zoneMakeNamedUnsafe("Europe/Vienna"))
    )

  it.effect.each(
    [
      ["email", "<p>{{a.b}} {{ c }}{{d}}</p>", "<p>&lt;b&gt; 7</p>"],
      ["email", "{% for one in e %}<li>{{one | append: '>'}}</li>{% endfor %}", "<li>x&gt;</li><li>y&gt;</li>"],
      ["sms", "{{a.b}} & {{a}}{{a.b.c}}{{constructor.name}}{{e.0}}", "<b> & x"],
      ["sms", "{% if c > 5 %}many{% else %}few{% endif %}{% if no %}!{% endif %}", "many"]
    ] as const
  )(
    "are filled: values are escaped where %s needs it, and missing ones are empty",
    ([channel, template, body]) =>
      Effect.map(filled(channel, template), (texts) => assert.deepStrictEqual(texts, { subject: "<b>\n", body }))
  )

  it.effect.each(
    [
      ["en", "$1,234.56, December 1, 2026 at 12:30 AM, 12/1/26; December 1, 2026"],
      ["de", "1.234,56 $, 1. Dezember 2026 at 00:30, 01.12.26; 1. Dezember 2026"],
      ["no language", "$1,234.56, December 1, 2026 at 12:30 AM, 12/1/26; December 1, 2026"]
    ] as const
  )("show money and times of the store as %s writes them", ([locale, expected]) =>
    Effect.map(
      filled(
        "sms",
        `{{sum | money: "USD"}}, {{at | date}} at {{at | time}}, {{at | date: "short"}}; {{day | date}}`,
        locale
      ),
      ({ body }) => assert.strictEqual(body.replace(/[\u00a0\u202f]/g, " "), expected)
    ))

  it.effect("show nothing for what is no sum and no time, and the number with what is no currency", () =>
    Effect.map(
      filled("sms", "{{a | money: 'USD'}}{{a.b | date}}{{no | time}}{{sum | money: no}}"),
      ({ body }) => assert.strictEqual(body.trim(), "123456")
    ))

  it.effect("stop when their template takes too long", () => {
    const loop = (inner: string) => `{% for i in (1..9000) %}${inner}{% endfor %}`
    return Effect.map(
      Effect.flip(filled("sms", loop(loop(loop("x"))))),
      ({ error }) => assert.include(error.message, "bodyTemplate must be a template that can be filled")
    )
  })

  it.each([["de-AT", "de-at"], ["de-CH", "de"], ["fr", "en"], [null, "en"]])("for %s are in %s", (locale, expected) => {
    const of = (tag: string) => ({ locale: tag }) as Template
    assert.strictEqual(inLocale([of("de"), of("en"), of("de-at")], locale, "en")?.locale, expected)
    assert.strictEqual(inLocale([of("it")], locale, "en")?.locale, "it")
  })
})

describe("messages", () => {
  it("have templates that are unique by event, channel and language, shown with data, and turned off", async () => {
    const event = shop.event()
    const id = await shop.template(event, { category: "orders" })
    const body = { event, channel: "sms", bodyTemplate: "x" }
    const templates = "/notifications/templates"
    await shop.refused("409 CONFLICT", "POST", templates, body)
    await shop.refused("422 VALIDATION_FAILED", "POST", templates, { ...body, channel: "print" })
    for (
      const template of [
        "{{#each a}}{{/each}}",
        "Hello {{name",
        "{{{name}}}",
        "{% if a %}",
        "{{a | raw}}",
        "{% include 'x' %}"
      ]
    ) {
      const said = await shop.refused("422 VALIDATION_FAILED", "POST", templates, { ...body, bodyTemplate: template })
      assert.strictEqual(said.at("error.details.issues.0.path"), "bodyTemplate")
      assert.match(said.text("error.message"), /^bodyTemplate must be a template .* line:1, col:\d+\.$/)
    }
    await shop.refused("422 VALIDATION_FAILED", "PATCH", `${templates}/${id}`, { subject: "{{name" })
    const shown = await shop.done("POST", `${templates}/${id}/preview`, { data: { name: "Ann" } })
    assert.deepStrictEqual(shown.at("data"), { subject: null, body: "Hello Ann" })
    await shop.refused("404 NOT_FOUND", "POST", `${templates}/${randomUUID()}/preview`, {})
    await shop.done("DELETE", `${templates}/${id}`)
    const listed = await shop.done("GET", `${templates}?event=${event}&isActive=false`)
    assert.deepStrictEqual([listed.at("meta.pagination.total"), listed.at("data.0.id")], [1, id])
    const failed = await shop.message(await shop.send(event))
    const error = `There is no active template for ${event} on sms.`
    assert.deepInclude(failed.at("data"), { status: "failed", error })
    const other = shop.event()
    const old = await shop.template(other)
    await shop.app.db.query("update notification_templates set body_template = '{{name' where id = $1", [old])
    const notFilled = await shop.message(await shop.send(other))
    assert.strictEqual(notFilled.at("data.status"), "failed")
    assert.match(notFilled.text("data.error"), /^bodyTemplate must be a template .*not closed, line:1, col:1\.$/)
    await shop.template(event, { channel: "push" })
    const noAdapter = await shop.message(await shop.send(event, { channel: "push", recipient: "token" }))
    assert.deepInclude(noAdapter.at("data"), { status: "failed", error: "There is no adapter for push." })
  })

  it("come of events that are relayed while there is an active template; others cost no job", async () => {
    const { db } = shop.app
    const left = "select 1 from outbox_events where position is null union all select 1 from event_dispatches"
    const handled = () => waitFor("its events to be handled", async () => (await db.query(left)).length === 0)
    const jobs = "select 1 from commerce_jobs where task_slug = 'notifications/on/*' and input->>'entityId' = $1"
    const jobsOfCustomer = async () => {
      const id = await shop.customer()
      await handled()
      return (await db.query(jobs, [id])).length
    }
    const before = await jobsOfCustomer()
    const template = await shop.template("customers.create", { channel: "print", printerId: "front" })
    const meanwhile = await jobsOfCustomer()
    await shop.done("DELETE", `/notifications/templates/${template}`)
    assert.deepStrictEqual([before, meanwhile, await jobsOfCustomer()], [0, 1, 0])
    const log = await shop.done("GET", "/notifications/log?event=customers.create")
    assert.strictEqual(log.at("meta.pagination.total"), 1)
  })

  it("go to the next adapter when nothing was sent, and back to the same one when it may have been", async () => {
    const event = shop.event()
    await shop.template(event)
    first.behave(() => "unavailable")
    const over = await shop.send(event, { data: { name: "Ann" } })
    await shop.settled(over, "sent")
    assert.strictEqual(second.sent.get(over)?.body, "Hello Ann")
    assert.strictEqual((await shop.message(over)).at("data.providerId"), "second")

    first.behave(() => "unknown")
    const maybe = await shop.send(event)
    await expect.poll(() => first.asked.filter((key) => key === maybe).length, wait).toBe(1)
    await expect.poll(async () => (await shop.message(maybe)).at("data.error"), wait).toBe("first: unknown.")
    first.behave(() => "unavailable")
    await shop.retry(maybe)
    await expect.poll(() => first.asked.filter((key) => key === maybe).length, wait).toBe(2)
    first.behave(() => "sent")
    await expect.poll(async () => (await shop.message(maybe)).at("data.error"), wait).toBe("first: unavailable.")
    await shop.retry(maybe)
    await shop.settled(maybe, "sent")
    assert.isFalse(second.asked.includes(maybe))

    first.behave(() => "refused")
    const refused = await shop.send(event)
    await shop.settled(refused, "failed")
    first.behave(() => "sent")
  })

  it("are tried again later and later, and fail with the last reason", async () => {
    const event = shop.event()
    await shop.template(event)
    first.behave(() => "unavailable")
    second.behave(() => "unavailable")
    const id = await shop.send(event)
    const waits: Array<number> = []
    for (const attempt of [1, 2]) {
      await expect.poll(async () => (await shop.message(id)).at("data.providerId"), wait).toBe(null)
      await expect.poll(() => second.asked.filter((key) => key === id).length, wait).toBe(attempt)
      await expect.poll(async () => (await shop.message(id)).at("data.providerId"), wait).toBe(null)
      const row = await shop.message(id)
      waits.push(Date.parse(row.text("data.nextAt")) - Date.parse(row.text("data.updatedAt")))
      await shop.retry(id)
    }
    await shop.settled(id, "failed")
    assert.deepStrictEqual(waits, [30_000, 60_000])
    assert.strictEqual((await shop.message(id)).at("data.error"), "second: unavailable.")
    first.behave(() => "sent")
    second.behave(() => "sent")
  })

  it("are delivered or failed when their provider says so with a signature", async () => {
    const event = shop.event()
    await shop.template(event)
    const [id, other] = [await shop.send(event), await shop.send(event)]
    await Promise.all([shop.settled(id, "sent"), shop.settled(other, "sent")])
    const report = async (body: string, key = secret) => {
      const headers = { "x-signature": createHmac("sha256", key).update(body).digest("hex") }
      return (await shop.ask("POST", "/notifications/callbacks/first", body, null, headers)).status
    }
    const body = (messageId: string, status: string) => JSON.stringify({ messageId, status, error: "No such number." })
    assert.strictEqual(await report(body(`first-${id}`, "delivered"), "a wrong secret of one"), 401)
    assert.deepStrictEqual(
      await Promise.all([report("{"), report(body("first-none", "failed")), report(body(`first-${id}`, "delivered"))]),
      [422, 404, 200]
    )
    assert.strictEqual(await report(body(`first-${id}`, "failed")), 200)
    assert.strictEqual((await shop.message(id)).at("data.status"), "delivered")
    await report(body(`first-${other}`, "failed"))
    assert.deepInclude((await shop.message(other)).at("data"), { status: "failed", error: "No such number." })
  })

  it("keep no recipient and no text after their time", async () => {
    const event = shop.event()
    await shop.template(event)
    const id = await shop.send(event, { metadata: { a: 1 } })
    await shop.settled(id, "sent")
    await shop.app.db.query("update notification_log set created_at = now() - interval '91 days' where id = $1", [id])
    await shop.app.serviceRegistry.enqueue("notifications/forget", {})
    await expect.poll(async () => (await shop.message(id)).at("data.recipient"), wait).toBe(null)
    assert.deepInclude((await shop.message(id)).at("data"), { body: null, metadata: null, status: "sent", event })
  })

  it("keep to the rules of every plugin", async () => {
    for (const { name, run } of contractOf(shop.app)) await run().catch((error) => assert.fail(`${name}: ${error}`))
  })
})

describe("events", () => {
  const more = ["notifications:write", "customers:update:self"]
  const as = withPermissions([...testCustomerActor.permissions, ...more], testCustomerActor)
  const name = "customers.update"
  const change = (id: string, body: object) => shop.done("PATCH", `/customers/${id}`, body)
  const log = async (customerId: string, channel: string) =>
    shop.done("GET", `/notifications/log?customerId=${customerId}&channel=${channel}`)
  const total = async (customerId: string, channel = "email") =>
    (await log(customerId, channel)).at("meta.pagination.total")
  const preferences = "/notifications/preferences"

  it("reach their customer in the best language, escaped, on the channels that were not declined", async () => {
    const [subject, bodyTemplate] = ["Hi {{customer.firstName}}", "<p>{{customer.firstName}}</p>"]
    await shop.template(name, { channel: "email", subject, bodyTemplate })
    await shop.template(name, { channel: "email", locale: "de", subject: "Hallo", bodyTemplate: "<p>Guten Tag</p>" })
    await shop.template(name, { channel: "in_app", bodyTemplate: "You changed {{event.type}}" })
    await shop.template(name, { bodyTemplate: "By phone", category: "alerts" })
    const id = await shop.customer()
    const sms = { customerId: id, channel: "sms" }
    await shop.done("POST", preferences, { ...sms, isEnabled: false })
    await change(id, { firstName: "<Ann>", phone: "+15550100" })
    await expect.poll(() => total(id), wait).toBe(1)
    const escaped = () => shop.mails.filter(({ data }) => JSON.stringify(data).includes("&lt;Ann&gt;"))
    await expect.poll(escaped, wait).toHaveLength(1)
    assert.deepStrictEqual([await total(id, "sms"), await total(id, "in_app")], [0, 1])
    assert.deepInclude((await log(id, "email")).at("data.0"), { subject: "Hi <Ann>", body: "<p>&lt;Ann&gt;</p>" })
    // The exact category comes before all others.
    const alerts = { ...sms, category: "alerts" }
    await shop.done("POST", preferences, { ...alerts, isEnabled: true, destination: "+15550199" })
    await change(id, { metadata: { locale: "de-AT" } })
    await expect.poll(() => total(id), wait).toBe(2)
    assert.strictEqual((await log(id, "email")).at("data.0.subject"), "Hallo")
    assert.strictEqual((await log(id, "sms")).at("data.0.recipient"), "+15550199")
    const sending = { ...sms, event: name, recipient: "+1" }
    await shop.done("POST", preferences, { ...alerts, isEnabled: false })
    await shop.refused("409 OPTED_OUT", "POST", "/notifications/send", sending)
    const unknown = { ...sending, customerId: randomUUID() }
    await shop.refused("404 NOT_FOUND", "POST", "/notifications/send", unknown)
    assert.strictEqual((await shop.done("GET", `${preferences}/${id}`)).at("meta.pagination.total"), 2)
  })

  it("go to no address that their customer names and no one has confirmed", async () => {
    const as = {
      ...withPermissions(
        [...testCustomerActor.permissions, "notifications:write", "customers:update:self"],
        testCustomerActor
      ),
      userId: "user-names",
      email: "names@example.com"
    }
    const set = (channel: string, destination: string) =>
      shop.ask("PUT", "/me/notification-preferences", { preferences: [{ channel, isEnabled: true, destination }] }, as)
    for (
      const [channel, other, own] of [
        ["email", "victim@example.com", as.email],
        ["sms", "+15550999", "+15550100"]
      ] as const
    ) {
      await shop.ask("PATCH", "/me/profile", { phone: "+15550100" }, as)
      const refused = await set(channel, other)
      assert.deepStrictEqual([refused.status, refused.at("error.details.issues.0.path")], [422, "destination"])
      assert.strictEqual((await set(channel, own)).status, 200)
    }
    assert.strictEqual((await set("push", "token of a device")).status, 200)
    const off = { channel: "email", category: "news", isEnabled: false, destination: "victim@example.com" }
    const silent = await shop.ask("PUT", "/me/notification-preferences", { preferences: [off] }, as)
    assert.deepInclude(silent.at("data.0"), { isEnabled: false, destination: null })
  })

  it("about a record that names its customer by the login reach them", async () => {
    const as = { ...testCustomerActor, userId: "user-login", email: "login@example.com" }
    const own = (await shop.ask("GET", "/me/profile", undefined, as)).text("data.id")
    const found = (customerId: string) =>
      shop.app.serviceRegistry.run(
        shop.app.tables.use(concernedOf)({ customerId: null, login: customerId, orderId: null })
      )
    assert.strictEqual((await found("user-login"))?.id, own)
    assert.isNull((await found("user-unknown"))?.id ?? null)
  })

  it("are refused that their channel cannot carry", async () => {
    for (const [channel, recipient] of [["email", "not an address"], ["sms", "call me"]]) {
      const refused = await shop.ask("POST", "/notifications/send", { event: shop.event(), channel, recipient })
      assert.deepStrictEqual([refused.status, refused.at("error.details.issues.0.path")], [422, "recipient"])
    }
  })

  it("about the order of a guest reach its address and the printer", async () => {
    await shop.template("orders.create", { channel: "email", subject: "Thanks", bodyTemplate: "{{orderNumber}}" })
    await shop.template("orders.create", { channel: "in_app", bodyTemplate: "Thanks" })
    await shop.template("orders.create", { channel: "print", printerId: "bar", bodyTemplate: "{{orderNumber}}" })
    const cart = await shop.ask("POST", "/carts", { currency: "USD", email: "guest@example.com" }, null)
    const [cartId, headers] = [cart.text("data.id"), { "x-cart-secret": cart.text("data.secret") }]
    const line = { entityId: await buildersOf(shop.app).product(), quantity: 1 }
    await shop.ask("POST", `/carts/${cartId}/items`, line, null, headers)
    const wish = { cartId, currency: "USD", paymentMethodId: "test" }
    const order = await shop.ask("POST", "/checkout", wish, null, headers)
    const number = order.text("data.orderNumber")
    const queued = async () =>
      (await shop.done("GET", "/notifications/log?event=orders.create")).list("data").map(Object)
    await expect.poll(async () => (await queued()).length, wait).toBe(2)
    const reached = (await queued()).map(({ body, channel, recipient }) => [channel, recipient, body])
    assert.sameDeepMembers(reached, [["email", "guest@example.com", number], ["print", "bar", number]])
  })

  it("that are handled again send nothing again", async () => {
    const id = await shop.customer()
    await change(id, { firstName: "Bea" })
    await expect.poll(() => total(id), wait).toBe(1)
    const again =
      `insert into notification_log (organization_id, channel, event, event_id, template_id, recipient, next_at,
      group_id) select organization_id, channel, event, event_id, template_id, recipient, next_at, group_id
      from notification_log where customer_id = $1 and channel = 'email' returning id`
    const error = await shop.app.db.query(again, [id]).then(() => undefined, (refused: unknown) => refused)
    assert.isDefined(error)
  })

  it("fill the inbox of the customer, who sets preferences and marks messages as read", async () => {
    const put = { preferences: [{ channel: "email", isEnabled: false }] }
    const set = await shop.done("PUT", "/me/notification-preferences", put, as)
    const own = set.text("data.0.customerId")
    const shown = await shop.done("GET", "/me/notification-preferences", undefined, as)
    assert.strictEqual(shown.at("data.0.isEnabled"), false)
    const withoutProfile = { ...testAdminActor, type: "api_key", userId: null, keyId: "key" } as const
    await shop.refused("404 NOT_FOUND", "PUT", "/me/notification-preferences", put, withoutProfile)
    const of = (customerId: string) => ({ customerId, channel: "sms", isEnabled: false })
    await shop.refused("422 VALIDATION_FAILED", "POST", preferences, of(randomUUID()))
    await shop.refused("403 FORBIDDEN", "POST", preferences, of(await shop.customer()), as)
    await shop.done("POST", preferences, of(own), as)
    await change(own, { firstName: "Cid" })
    const inbox = (query = "") => shop.done("GET", `/me/notifications${query}`, undefined, as)
    await expect.poll(async () => (await inbox()).at("meta.pagination.total"), wait).toBe(1)
    const id = (await inbox()).text("data.0.id")
    const unread = async () => (await shop.done("GET", "/me/notifications/unread", undefined, as)).at("data.unread")
    assert.strictEqual(await unread(), 1)
    await shop.refused("404 NOT_FOUND", "POST", `/me/notifications/${id}/read`, {})
    await shop.done("POST", `/me/notifications/${id}/read`, {}, as)
    assert.deepStrictEqual([await unread(), (await inbox("?unread=true")).at("data.length")], [0, 0])
    assert.strictEqual((await shop.done("POST", "/me/notifications/read", {}, as)).at("data.read"), 0)
    assert.strictEqual(await total(own), 0)
  })

  it("of an erased customer leave nothing behind", async () => {
    const [own] = await shop.app.db.query("select id::text from customers where user_id = $1", [as.userId])
    const { id } = Object(own)
    await shop.template(name, { channel: "print", printerId: "front", bodyTemplate: "{{customer.firstName}}" })
    await change(id, { firstName: "Eve" })
    const printed = async () => (await shop.done("GET", "/notifications/print?printerId=front")).at("data.0")
    await expect.poll(async () => Object(await printed()).content, wait).toEqual({ subject: null, text: "Eve" })
    await shop.done("DELETE", "/me", undefined, as)
    await shop.app.serviceRegistry.enqueue("notifications/forget", {})
    await expect.poll(async () => (await log(id, "in_app")).at("data.0.recipient"), wait).toBe(null)
    assert.strictEqual((await shop.done("GET", `${preferences}/${id}`)).at("meta.pagination.total"), 0)
    assert.deepInclude(Object(await printed()), { content: {}, status: "failed" })
  })
})
