import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { inspect } from "node:util"
import { timeAfter } from "../Slots.ts"
import { ann, type BoxShop, openBoxShop } from "./BoxShop.ts"

const hour = 3_600_000

describe("the times of an order that repeats by months", () => {
  const zone = { timezone: "Europe/Vienna" }
  /** The times that follow the first one, each after the one before, as rows of an order do. */
  const times = (dayOfMonth: number, everyMonths: number, first: string, count: number) => {
    let scheduledFor = new Date(first)
    return Array.from({ length: count }, () => {
      scheduledFor = timeAfter(zone, { dayOfMonth, everyDays: null, everyMonths, scheduledFor }, new Date(0))
      return scheduledFor.toISOString().slice(0, 16)
    })
  }

  it("are on its day of the month, or on the last one of a shorter month, at the time of the clock on the wall", () => {
    assert.deepStrictEqual(times(31, 1, "2027-01-31T17:30:00Z", 5), [
      "2027-02-28T17:30",
      "2027-03-31T16:30",
      "2027-04-30T16:30",
      "2027-05-31T16:30",
      "2027-06-30T16:30"
    ])
    assert.deepStrictEqual(times(30, 2, "2027-12-30T12:00:00Z", 2), ["2028-02-29T12:00", "2028-04-30T11:00"])
    assert.deepStrictEqual(times(29, 12, "2028-02-29T12:00:00Z", 4), [
      "2029-02-28T12:00",
      "2030-02-28T12:00",
      "2031-02-28T12:00",
      "2032-02-29T12:00"
    ])
  })

  it("are those of its time zone: a day of the month may begin on the evening before in UTC", () => {
    assert.deepStrictEqual(times(1, 1, "2027-02-28T23:30:00Z", 2), ["2027-03-31T22:30", "2027-04-30T22:30"])
  })

  it("leave out what is past, also over the end of a year", () => {
    const row = { dayOfMonth: 31, everyDays: null, everyMonths: 5, scheduledFor: new Date("2027-08-31T10:00:00Z") }
    const next = timeAfter(zone, row, new Date("2028-02-01T00:00:00Z"))
    assert.strictEqual(next.toISOString(), "2028-06-30T10:00:00.000Z")
  })
})

describe("an order that repeats by months", () => {
  let shop: BoxShop
  beforeAll(async () => {
    shop = await openBoxShop({ timezone: "Europe/Vienna", maxDaysAhead: 700 })
  })
  afterAll(() => shop.close())

  const yearOf = () => new Date(shop.clock.now()).getUTCFullYear() + 1
  const lastOfJanuary = () => `${yearOf()}-01-31T17:30:00.000Z`
  const lastOfFebruary = () => new Date(Date.UTC(yearOf(), 2, 0, 17, 30)).toISOString()
  const monthly = (more: object = {}) => shop.scheduled({ scheduledFor: lastOfJanuary(), everyMonths: 1, ...more })
  const next = async (cartId: string) => (await shop.rows(`cartId=${cartId}&status=scheduled`))[0]

  it("keeps its day when it is skipped, changed and rests, until it is moved to another day", async () => {
    const id = await monthly()
    const change = async (body: object) => Object((await shop.done("PATCH", `/${id}`, body, ann)).at("data"))
    assert.deepInclude(await shop.row(id), { dayOfMonth: 31, everyMonths: 1, everyDays: null })
    await shop.done("POST", `/${id}/skip`, undefined, ann)
    assert.strictEqual((await shop.row(id)).scheduledFor, lastOfFebruary())
    const later = new Date(Date.parse(lastOfFebruary()) + hour).toISOString()
    assert.deepInclude(await change({ scheduledFor: later, notes: "Ring" }), { dayOfMonth: 31, scheduledFor: later })
    assert.strictEqual((await change({ everyMonths: 2 })).dayOfMonth, 31)
    await shop.done("POST", `/${id}/pause`, undefined, ann)
    await shop.done("POST", `/${id}/resume`, undefined, ann)
    const skipped = await shop.done("POST", `/${id}/skip`, undefined, ann)
    assert.strictEqual(skipped.at("data.scheduledFor"), `${yearOf()}-04-30T17:30:00.000Z`)
    assert.strictEqual((await change({ scheduledFor: `${yearOf()}-05-05T10:00:00.000Z` })).dayOfMonth, 5)
    assert.deepInclude(await change({ everyMonths: null }), { dayOfMonth: null, everyMonths: null, noticeAt: null })
    await shop.refused("422 VALIDATION_FAILED", "POST", `/${id}/skip`, undefined, ann)
    await shop.done("POST", `/${id}/cancel`, undefined, ann)
  })

  it("repeats by days or by months, which requests and the database refuse together", async () => {
    const both = shop.wish(await shop.cart(ann, await shop.product()), { everyDays: 7, everyMonths: 1 })
    const refused = await shop.refused("422 VALIDATION_FAILED", "POST", "", both, ann)
    assert.match(refused.text("error.message"), /^everyMonths must be null when everyDays is set: /)
    for (const everyMonths of [0, 13, 1.5]) {
      await shop.refused("422 VALIDATION_FAILED", "POST", "", { ...both, everyDays: null, everyMonths }, ann)
    }
    const id = await shop.scheduled({ everyDays: 7 })
    await shop.refused("422 VALIDATION_FAILED", "PATCH", `/${id}`, { everyMonths: 1 }, ann)
    const changed = await shop.done("PATCH", `/${id}`, { everyDays: null, everyMonths: 1 }, ann)
    assert.isNotNull(changed.at("data.dayOfMonth"))
    await shop.refused("422 VALIDATION_FAILED", "PATCH", `/${id}`, { everyDays: 7 }, ann)
    for (const set of ["every_days = 7", "day_of_month = null", "every_months = null"]) {
      const error = await shop.db.query(`update scheduled_orders set ${set} where id = $1`, [id]).catch(inspect)
      assert.match(String(error), /violates check constraint "scheduled_orders_(rhythm|day_of_month)_/)
    }
    await shop.done("POST", `/${id}/cancel`, undefined, ann)
  })

  it("has one next order, and frees its cart after the last", async () => {
    const repeated = await shop.row(await monthly({ scheduledFor: shop.inHours(2) }))
    await shop.due(repeated.id, "completed")
    assert.strictEqual((await next(repeated.cartId)).everyMonths, 1)
    await shop.refused("409 CONFLICT", "POST", "", shop.wish(repeated.cartId, { everyMonths: 1 }), ann)
    const last = await monthly({ scheduledFor: shop.inHours(2), repeatUntil: shop.inHours(24 * 20) })
    const { cartId } = await shop.due(last, "completed")
    assert.isUndefined(await next(cartId))
    const item = { entityId: await shop.product(), quantity: 1 }
    assert.strictEqual((await shop.ask("POST", `/carts/${cartId}/items`, item, ann)).status, 201)
    // It is ordered once more, and then used up.
    const once = await shop.done("POST", "", shop.wish(cartId), ann)
    await shop.due(once.text("data.id"), "completed")
    assert.strictEqual((await shop.ask("POST", `/carts/${cartId}/items`, item, ann)).status, 409)
  })

  it("is ordered on 31 January, at the end of February and on 31 March, each announced before", async () => {
    const { cartId, ...first } = await shop.row(await monthly())
    let { id, scheduledFor } = first
    for (const day of [lastOfFebruary(), `${yearOf()}-03-31T16:30:00.000Z`]) {
      await shop.due(id, "completed", (Date.parse(scheduledFor) - shop.clock.now()) / hour)
      const following = await next(cartId)
      assert.deepInclude(following, { scheduledFor: day, dayOfMonth: 31, everyMonths: 1 })
      assert.isNotNull(following.noticeAt)
      id = following.id
      scheduledFor = day
    }
    await shop.due(id, "expired", (Date.parse(scheduledFor) - shop.clock.now()) / hour + 30)
    assert.isDefined(await next(cartId))
  })
})
