import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { scheduledOrders } from "../index.ts"
import { ann, type BoxShop, openBoxShop } from "./BoxShop.ts"

const everyDay = Array.from({ length: 7 }, (_, dayOfWeek) => ({ dayOfWeek, from: "00:00", to: "00:00" }))
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

describe("the hours of scheduled orders", () => {
  let shop: BoxShop
  beforeAll(async () => {
    shop = await openBoxShop({
      timezone: "Europe/Vienna",
      openingHours: [...everyDay.slice(0, 6), { dayOfWeek: 6, from: "08:00", to: "12:00" }],
      slotMinutes: 90,
      slotCapacity: 1,
      maxDaysAhead: 700
    })
  })
  afterAll(() => shop.close())

  const slots = async (date: string) =>
    (await shop.done("GET", `/slots?date=${date}`, undefined, null)).list("data").map(Object)
  /** The last Sunday of a month in which Vienna changes its clocks, of next year. */
  const change = (month: number) => {
    const at = new Date(Date.UTC(new Date(shop.clock.now()).getUTCFullYear() + 1, month, 0))
    return dayOf(at.getTime() - at.getUTCDay() * 86_400_000)
  }
  const wishAt = async (scheduledFor: string) => shop.wish(await shop.cart(ann, await shop.product()), { scheduledFor })

  it("have the slots of the list on the days on which clocks change, too", async () => {
    for (const day of [change(3), change(10)]) {
      const all = await slots(day)
      assert.strictEqual(all.length, day === change(3) ? 16 : 17)
      // Each hour of the night in which clocks change, in turn.
      for (const time of ["00:30", "01:10", "01:50"]) {
        const at = Date.parse(`${day}T${time}:30.500Z`)
        const answer = await shop.ask("POST", "/scheduled-orders", await wishAt(new Date(at).toISOString()), ann)
        const slot = all.find(({ endsAt, startsAt }) => Date.parse(startsAt) <= at && at < Date.parse(endsAt))
        if (answer.status === 201) assert.strictEqual(answer.text("data.slotStart"), slot.startsAt)
        else assert.strictEqual(answer.status, 409)
      }
      const after = await slots(day)
      assert.deepStrictEqual(after.map(({ startsAt }) => startsAt), all.map(({ startsAt }) => startsAt))
      assert.strictEqual(after.filter(({ taken }) => taken === 1).length, day === change(3) ? 1 : 2)
      assert.isEmpty(after.filter(({ taken }) => taken > 1))
    }
  })

  it("end with the last slot, however long a slot is", async () => {
    const saturday = dayOf(shop.clock.now() + (13 - new Date(shop.clock.now()).getUTCDay()) * 86_400_000)
    const times = (await slots(saturday)).map(({ endsAt, startsAt }) =>
      (Date.parse(endsAt) - Date.parse(startsAt)) / 60_000
    )
    assert.deepStrictEqual(times, [90, 90, 60])
  })

  it("are those of days that the database has", async () => {
    const west = await openBoxShop({ timezone: "America/New_York", openingHours: everyDay, slotMinutes: 60 })
    for (const one of [shop, west]) {
      for (const date of ["0001-01-01", "0050-05-05", "9999-12-31"]) {
        await one.refused("422 VALIDATION_FAILED", "GET", `/slots?date=${date}`, undefined, null)
      }
    }
    await west.close()
  })

  it("refuse a capacity of what is no slot", async () => {
    const [slot] = await slots(dayOf(shop.clock.now() + 86_400_000 * 9))
    const inside = new Date(Date.parse(slot.startsAt) + 60_000).toISOString()
    await shop.refused("422 VALIDATION_FAILED", "PUT", "/slots", { startsAt: inside, capacity: 0 })
    await shop.done("PUT", "/slots", { startsAt: slot.startsAt, capacity: 0 })
  })

  it("end after they begin and do not overlap, else the service does not start", () => {
    const hours = (...times: ReadonlyArray<readonly [string, string]>) =>
      scheduledOrders({ openingHours: times.map(([from, to]) => ({ dayOfWeek: 1, from, to })) }).flaws
    assert.isEmpty(hours(["10:00", "14:00"], ["14:00", "00:00"]))
    for (
      const wrong of [
        hours(["22:00", "02:00"]),
        hours(["10:00", "10:00"]),
        hours(["10:00", "14:00"], ["09:00", "10:01"])
      ]
    ) {
      assert.lengthOf(wrong, 1)
    }
  })

  it("stay those of repeats that rest while clocks change", async () => {
    const vienna = await openBoxShop({ timezone: "Europe/Vienna", maxDaysAhead: 700 })
    const day = Date.parse(`${change(3)}T00:00:00.000Z`)
    // 02:30 in winter, a time that the day of the change does not have.
    const scheduledFor = new Date(day - 2 * 86_400_000 + 90 * 60_000).toISOString()
    const id = await vienna.scheduled({ scheduledFor, everyDays: 1 })
    await vienna.done("POST", `/${id}/pause`, undefined, ann)
    vienna.clock.advance(day + 3 * 86_400_000 - vienna.clock.now())
    const resumed = await vienna.done("POST", `/${id}/resume`, undefined, ann)
    assert.strictEqual(resumed.text("data.scheduledFor").slice(11, 16), "00:30")
    await vienna.close()
  })
})
