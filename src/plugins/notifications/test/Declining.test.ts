import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { type TestActor, testCustomerActor, withPermissions } from "stoa/plugin/testing"
import { type NotificationShop, openShop, provider } from "./NotificationShop.ts"

const wait = { timeout: 30_000 }
let shop: NotificationShop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.close())

const marketing = { channel: "email", category: "marketing", subject: "News", bodyTemplate: "<p>Buy!</p>" }

/** Sends a marketing mail and gives the path of its link. */
const mailedLink = async (to: string, template: object = marketing) => {
  const event = shop.event()
  await shop.template(event, template)
  const count = () => shop.mails.filter((one) => one.to === to).length
  const before = count()
  await shop.settled(await shop.send(event, { channel: "email", recipient: to }), "sent")
  await expect.poll(count, wait).toBe(before + 1)
  return { event, link: shop.declineLink(to) }
}

const click = (link: string | undefined) => shop.ask("POST", link ?? "/no-link", undefined, null)
const preferences = "/me/notification-preferences"

describe("a message that can be declined", () => {
  it("is declined by a guest, and refused or suppressed from then on; other categories are not", async () => {
    const to = "guest@example.com"
    const { event, link } = await mailedLink(to)
    await shop.template("news.later", { ...marketing, delayMinutes: 60 })
    const waiting = await shop.send("news.later", { channel: "email", recipient: to })
    assert.strictEqual((await click(link)).status, 200)
    const again = { event, channel: "email", recipient: to }
    await shop.refused("409 OPTED_OUT", "POST", "/notifications/send", again)
    await shop.retry(waiting)
    await shop.settled(waiting, "suppressed")
    assert.include((await shop.message(waiting)).text("data.error"), "declined the category marketing")
    await mailedLink(to, { ...marketing, category: "stock-alerts" })
    assert.strictEqual(shop.mails.filter((one) => one.to === to).length, 2)
  })

  it("of a transactional category has no link, and goes to who declined all others", async () => {
    const to = "orders@example.com"
    assert.strictEqual((await click((await mailedLink(to)).link)).status, 200)
    const { link } = await mailedLink(to, { ...marketing, category: "orders" })
    assert.isUndefined(link)
    assert.deepStrictEqual(shop.mails.at(-1)?.headers, {})
  })

  it("is off in the preferences of a customer who followed its link, until they want it again", async () => {
    const permissions = [...testCustomerActor.permissions, "notifications:write"]
    const as = { ...withPermissions(permissions, testCustomerActor), userId: "user-link", email: "link@example.com" }
    const set = (isEnabled: boolean, category: string, by: TestActor = as) =>
      shop.done("PUT", preferences, { preferences: [{ channel: "email", category, isEnabled }] }, by)
    const customerId = (await set(true, "marketing")).text("data.0.customerId")
    const { event, link } = await mailedLink(as.email)
    assert.strictEqual((await click(link)).status, 200)
    const shown = async () =>
      (await shop.done("GET", preferences, undefined, as)).list("data").map(Object)
        .map(({ category, isEnabled }) => [category, isEnabled])
    assert.deepStrictEqual(await shown(), [["marketing", false]])
    const forStaff = await shop.done("GET", `/notifications/preferences/${customerId}?limit=1`)
    assert.deepStrictEqual([forStaff.at("data.0.isEnabled"), forStaff.at("meta.pagination.total")], [false, 1])
    const wish = { customerId, channel: "email", category: "marketing", isEnabled: true }
    await shop.refused("409 OPTED_OUT", "POST", "/notifications/preferences", wish)
    await set(true, "marketing")
    assert.deepStrictEqual(await shown(), [["marketing", true]])
    await shop.settled(await shop.send(event, { channel: "email", recipient: as.email }), "sent")
    // All others, for mails of every plugin to the address, with one exception.
    await set(false, "*")
    await set(true, "marketing")
    assert.deepStrictEqual(await shown(), [["*", false], ["marketing", true]])
    const other = { ...marketing, category: "surveys" }
    const asked = shop.event()
    await shop.template(asked, other)
    const sending = { event: asked, channel: "email", recipient: as.email }
    await shop.refused("409 OPTED_OUT", "POST", "/notifications/send", sending)
    await shop.settled(await shop.send(event, { channel: "email", recipient: as.email }), "sent")
  })
})

describe("an adapter for e-mail", () => {
  it("gets the link in the body, and the headers", async () => {
    const own = provider("own-mail", "email")
    const other = await openShop({ adapters: [own.adapter] })
    const event = other.event()
    await other.template(event, marketing)
    const id = await other.send(event, { channel: "email", recipient: "ann@example.com" })
    await other.settled(id, "sent")
    const url = own.sent.get(id)?.headers["List-Unsubscribe"]?.slice(1, -1) ?? ""
    assert.match(url, /\/api\/mail\/unsubscribe\?token=/)
    assert.include(own.sent.get(id)?.body ?? "", `<a href="${url}">`)
    await other.close()
  })
})
