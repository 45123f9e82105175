import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { unmet } from "../Conditions.ts"
import { type NotificationShop, openShop, provider } from "./NotificationShop.ts"

const wait = { timeout: 30_000 }
const texts = provider("texts")
let shop: NotificationShop
beforeAll(async () => {
  shop = await openShop({ adapters: [texts.adapter] })
})
afterAll(() => shop.close())

describe("a condition of a template", () => {
  it.each(
    [
      [{ status: ["open", "held"] }, { status: "held" }, undefined],
      [{ status: ["open"] }, { status: "closed" }, "status"],
      [{ status: ["open"] }, {}, "status"],
      [{ "a.b": [1], c: [true] }, { a: { b: 1 }, c: false }, "c"],
      [{ "a.b": [null] }, { a: 1 }, undefined]
    ] as const
  )("%j of %j is not met by %s", (condition, record, field) => {
    assert.strictEqual(unmet(condition, record), field)
  })

  it("is one of fields and values, and of no digest", async () => {
    const template = { event: shop.event(), channel: "sms", bodyTemplate: "x" }
    for (const wrong of [{ sendWhile: { "a b": ["x"] } }, { sendWhile: { a: [] } }, { sendWhile: { a: "x" } }]) {
      await shop.refused("422 VALIDATION_FAILED", "POST", "/notifications/templates", { ...template, ...wrong })
    }
    const digest = { ...template, sendWhile: { a: ["x"] }, digestMinutes: 5 }
    await shop.refused("422 VALIDATION_FAILED", "POST", "/notifications/templates", digest)
  })

  it("is looked up when the message is sent: what is no longer true suppresses it", async () => {
    const event = "customers.update"
    const sendWhile = { firstName: ["Ann", "Bea"] }
    await shop.template(event, { sendWhile, delayMinutes: 60, bodyTemplate: "{{customer.firstName}}" })
    const change = (id: string, body: object) => shop.done("PATCH", `/customers/${id}`, body)
    const queuedFor = async (id: string) => {
      await change(id, { firstName: "Ann", phone: "+15550100" })
      const log = () => shop.done("GET", `/notifications/log?customerId=${id}&status=queued`)
      await expect.poll(async () => (await log()).at("meta.pagination.total"), wait).toBe(1)
      return (await log()).text("data.0.id")
    }
    const [gone, kept] = [await shop.customer(), await shop.customer()]
    const [late, due] = [await queuedFor(gone), await queuedFor(kept)]
    await shop.done("PATCH", `/notifications/templates/${(await shop.message(late)).text("data.templateId")}`, {
      isActive: false
    })
    await change(gone, { firstName: "Cid" })
    await change(kept, { firstName: "Bea" })
    const left = "select 1 from outbox_events where position is null"
    await expect.poll(async () => (await shop.app.db.query(left)).length, wait).toBe(0)
    await shop.retry(late)
    await shop.retry(due)
    await shop.settled(late, "suppressed")
    await shop.settled(due, "sent")
    assert.include((await shop.message(late)).text("data.error"), "condition of firstName")
    assert.deepStrictEqual(texts.asked, [due])
  })
})
