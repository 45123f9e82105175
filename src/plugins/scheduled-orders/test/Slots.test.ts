import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { ann, type BoxShop, openBoxShop } from "./BoxShop.ts"

/** The last Sunday of October 2026: Vienna puts its clocks back at 03:00. */
const change = "2026-10-25"
const everyDay = Array.from({ length: 7 }, (_, dayOfWeek) => ({ dayOfWeek, from: "00:00", to: "00:00" }))

describe("slots of scheduled orders", () => {
  let shop: BoxShop
  beforeAll(async () => {
    shop = await openBoxShop({
      timezone: "Europe/Vienna",
      openingHours: [
        ...everyDay.filter(({ dayOfWeek }) => dayOfWeek === 0),
        { dayOfWeek: 1, from: "11:00", to: "14:00" },
        { dayOfWeek: 1, from: "17:30", to: "22:00" }
      ],
      slotMinutes: 30,
      slotCapacity: 3,
      maxDaysAhead: 700,
      holdGoods: "scheduling",
      maxHoldDays: 700,
      maxHeldUnits: 100_000
    })
  })
  afterAll(() => shop.close())

  const slots = async (date: string) =>
    (await shop.done("GET", `/slots?date=${date}`, undefined, null)).list("data").map(Object)
  /** A Monday at that time of Vienna, so many weeks from the next one on. */
  const monday = (time: string, weeks = 1) => {
    const at = new Date(shop.clock.now())
    at.setUTCDate(at.getUTCDate() + ((8 - at.getUTCDay()) % 7 || 7) + 7 * weeks)
    const zone = { timeZone: "Europe/Vienna", adjustForTimeZone: true }
    return DateTime.formatIso(DateTime.makeZonedUnsafe(`${at.toISOString().slice(0, 10)}T${time}:00`, zone))
  }
  const wallTime = new Intl.DateTimeFormat("de", { timeStyle: "short", timeZone: "Europe/Vienna" })
  const dateOf = (at: string) => at.slice(0, 10)

  it("are those of the opening hours, also of the day on which clocks change", async () => {
    const day = await slots(dateOf(monday("12:00")))
    const times = day.map(({ startsAt }) => wallTime.format(new Date(startsAt)))
    const lunch = ["11:00", "11:30", "12:00", "12:30", "13:00", "13:30"]
    const evening = ["17:30", "18:00", "18:30", "19:00", "19:30", "20:00", "20:30", "21:00", "21:30"]
    assert.deepStrictEqual(times, [...lunch, ...evening])
    assert.deepInclude(day[0], { capacity: 3, taken: 0, available: 3 })
    assert.strictEqual((await slots(change)).length, 50)
    assert.deepStrictEqual(await slots("2026-11-24"), [])
    await shop.refused("422 VALIDATION_FAILED", "GET", "/slots?date=2026-02-30", undefined, null)
  })

  it("take as many orders as their capacity, however many ask at once, and no order while it is closed", async () => {
    const scheduledFor = monday("12:10")
    const wishes = await Promise.all(
      Array.from({ length: 8 }, async () => shop.wish(await shop.cart(ann, await shop.product()), { scheduledFor }))
    )
    const answers = await Promise.all(wishes.map((body) => shop.ask("POST", "/scheduled-orders", body, ann)))
    assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, 201, 201, ...Array(5).fill(409)])
    const [slot] = (await slots(dateOf(scheduledFor))).filter(({ taken }) => taken > 0)
    assert.deepInclude(slot, { taken: 3, available: 0, startsAt: new Date(monday("12:00")).toISOString() })
    const id = answers.find(({ status }) => status === 201)?.text("data.id")
    await shop.done("PATCH", `/${id}`, { scheduledFor: monday("12:29") }, ann)
    await shop.done("PATCH", `/${id}`, { scheduledFor: monday("13:59") }, ann)
    const [left, full] = wishes.filter((_, n) => answers[n]?.status === 409)
    await shop.refused("422 VALIDATION_FAILED", "POST", "", { ...left, scheduledFor: monday("14:00") }, ann)
    await shop.done("POST", "", left, ann)
    await shop.refused("409 CONFLICT", "POST", "", full, ann)
  })

  it("have the capacity that staff gives them, and repeats leave out those that are full", async () => {
    const startsAt = monday("18:00", 3)
    await shop.refused("403 FORBIDDEN", "PUT", "/slots", { startsAt, capacity: 0 }, ann)
    assert.strictEqual((await shop.done("PUT", "/slots", { startsAt, capacity: 0 })).at("data.capacity"), 0)
    const id = await shop.scheduled({ scheduledFor: monday("18:00", 2), everyDays: 7 })
    const skipped = await shop.ask("POST", `/scheduled-orders/${id}/skip`, undefined, ann)
    assert.strictEqual(skipped.status, 409)
    const bufferMinutes = Math.ceil((Date.parse(monday("18:00", 2)) - shop.clock.now()) / 60_000)
    await shop.done("POST", "/process-due", { bufferMinutes })
    const { cartId } = await shop.isNow(id, "completed")
    const [next] = await shop.rows(`cartId=${cartId}&status=scheduled`)
    assert.strictEqual(next.scheduledFor, new Date(monday("18:00", 4)).toISOString())
  })

  it("and goods that are held from the scheduling on are there when the order comes", async () => {
    const product = await shop.product({ stock: 2 })
    const scheduledFor = monday("19:00", 5)
    const made = await shop.done("POST", "", shop.wish(await shop.cart(ann, product, 2), { scheduledFor }), ann)
    const id = made.text("data.id")
    const available = async () => (await shop.ask("GET", `/inventory/check?entityIds=${product}`)).at(`data.${product}`)
    const other = shop.wish(await shop.cart(ann, product, 2), { scheduledFor })
    await shop.refused("422 VALIDATION_FAILED", "POST", "", other, ann)
    assert.strictEqual(await available(), 0)
    await shop.done("POST", `/${id}/cancel`, undefined, ann)
    assert.strictEqual(await available(), 2)
    const again = (await shop.done("POST", "", other, ann)).text("data.id")
    const bufferMinutes = Math.ceil((Date.parse(scheduledFor) - shop.clock.now()) / 60_000)
    await shop.done("POST", "/process-due", { bufferMinutes })
    await shop.isNow(again, "completed")
    assert.strictEqual(await available(), 0)
  })
})
