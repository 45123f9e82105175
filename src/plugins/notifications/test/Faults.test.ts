import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createHmac } from "node:crypto"
import { type Cutter, openCutter } from "../../../../test/support/OpenTap.ts"
import { type NotificationShop, openShop } from "./NotificationShop.ts"

const callbackSecret = "a secret of some length"

describe("a process that ends between two statements", () => {
  let shop: NotificationShop
  let cutter: Cutter
  beforeAll(async () => {
    // The dispatch of events reads the templates for every event, at any time.
    cutter = await openCutter(/notification_log/)
    shop = await openShop({ callbackSecret }, { postgres: cutter, jobs: { autorun: { enabled: false } } })
  })
  afterAll(async () => {
    await shop.close()
    await cutter.close()
  })

  it("queues a message of staff with the job that sends it, or neither", async () => {
    const event = shop.event()
    await shop.template(event, { channel: "in_app", digestMinutes: 10 })
    const customerId = await shop.customer()
    const message = { event, channel: "in_app", recipient: customerId, customerId }
    const send = () => shop.ask("POST", "/notifications/send", message)
    let known = 0
    const times = await cutter.cutOff(shop.app, [201], send, async () => {
      const messages = await shop.app.db.query("select 1 from notification_log where event = $1", [event])
      const jobs = await shop.app.db.query(
        "delete from commerce_jobs where task_slug = 'notifications/send' returning 1"
      )
      assert.strictEqual(jobs.length, messages.length - known)
      known = messages.length
    })
    assert.isAtLeast(times, 6)
    assert.isAtLeast(known, 1)
  })

  it("notes what a provider reports once it is reported again", async () => {
    const event = shop.event()
    await shop.template(event)
    const id = await shop.send(event)
    await shop.app.db.query(
      "update notification_log set status = 'sent', provider_id = 'first', adapter_message_id = 'm' where id = $1",
      [id]
    )
    const body = JSON.stringify({ messageId: "m", status: "delivered" })
    const headers = { "x-signature": createHmac("sha256", callbackSecret).update(body).digest("hex") }
    const report = () => shop.ask("POST", "/notifications/callbacks/first", body, null, headers)
    const times = await cutter.cutOff(shop.app, [200], report, async () => {
      assert.include(["sent", "delivered"], (await shop.message(id)).at("data.status"))
    })
    assert.strictEqual((await shop.message(id)).at("data.status"), "delivered")
    assert.isAtLeast(times, 2)
  })
})
