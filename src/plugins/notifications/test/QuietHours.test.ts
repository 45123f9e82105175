import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { endOfQuietHours } from "../QuietHours.ts"
import { type NotificationShop, openShop, provider } from "./NotificationShop.ts"

describe("quiet hours", () => {
  const night = { from: "21:00", until: "08:00" }
  const noon = { from: "12:00", until: "13:30" }
  it.each(
    [
      [night, "UTC", "2026-11-29T20:59:59Z", null],
      [night, "UTC", "2026-11-29T21:00:00Z", "2026-11-30T08:00:00.000Z"],
      [night, "UTC", "2026-11-30T07:59:59Z", "2026-11-30T08:00:00.000Z"],
      [night, "UTC", "2026-11-30T08:00:00Z", null],
      [noon, "UTC", "2026-11-30T12:15:30Z", "2026-11-30T13:30:00.000Z"],
      [noon, "UTC", "2026-11-30T13:30:00Z", null],
      [night, "Asia/Tokyo", "2026-11-29T12:00:00Z", "2026-11-29T23:00:00.000Z"],
      // Clocks go forward and back in these nights.
      [night, "Europe/Vienna", "2026-03-28T22:00:00Z", "2026-03-29T06:00:00.000Z"],
      [night, "Europe/Vienna", "2026-10-24T22:00:00Z", "2026-10-25T07:00:00.000Z"]
    ] as const
  )("of %j in %s end for %s at %s", (hours, timeZone, at, end) => {
    assert.strictEqual(endOfQuietHours(hours, timeZone, new Date(at))?.toISOString() ?? null, end)
  })
})

describe("a message in quiet hours", () => {
  const wait = { timeout: 30_000 }
  const texts = provider("texts")
  const clockAt = (offsetMs: number) => new Date(Date.now() + offsetMs).toISOString().slice(11, 16)
  // All but one minute of the day, which is far from now.
  const hours = -6 * 3_600_000
  const quietHours = { from: clockAt(hours + 60_000), until: clockAt(hours) }
  let shop: NotificationShop
  beforeAll(async () => {
    shop = await openShop({ adapters: [texts.adapter], quietHours })
  })
  afterAll(() => shop.close())

  const row = async (id: string) => Object((await shop.message(id)).at("data"))

  it("waits for their end when its receiver could decline it, without a try; others go", async () => {
    const [event, order] = [shop.event(), shop.event()]
    await shop.template(event, { category: "marketing" })
    await shop.template(order, { category: "orders" })
    const [waiting, urgent] = [await shop.send(event), await shop.send(order)]
    await shop.settled(urgent, "sent")
    const end = endOfQuietHours(quietHours, "UTC", new Date())?.toISOString()
    await expect.poll(async () => (await row(waiting)).nextAt, wait).toBe(end)
    assert.deepInclude(await row(waiting), { status: "queued", attempts: 0, error: null, providerId: null })
    assert.deepStrictEqual(texts.asked, [urgent])
  })
})
