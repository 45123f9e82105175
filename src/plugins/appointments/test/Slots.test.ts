import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { day, stretchesOf } from "../LocalTime.ts"
import { type Agenda, slotsOf, type Span } from "../Slots.ts"

const at = (text: string) => DateTime.makeUnsafe(text).epochMilliseconds
const everyDay = (startTime: string, endTime: string) =>
  Array.from({ length: 7 }, (_, dayOfWeek) => ({ dayOfWeek, startTime, endTime }))
const hour = { durationMinutes: 60, bufferBeforeMinutes: 0, bufferAfterMinutes: 0 }

/** The beginnings of the free times of a day. */
const starts = (zone: string, date: string, agenda: Partial<Agenda>, visit = hour) => {
  const on = at(`${date}T00:00:00Z`)
  const stretches = stretchesOf(DateTime.zoneMakeNamedUnsafe(zone), on - 2 * day, on + 3 * day)
  const whole = { stretches, weekly: [], breaks: [], overrides: [], taken: [], ...agenda }
  return slotsOf(whole, visit, { from: on, to: on, earliest: -Infinity, latest: Infinity })
    .map(({ start }) => DateTime.formatIso(DateTime.makeUnsafe(start)).slice(5, 16))
}

describe("slots", () => {
  it("leave the hour out that clocks skip, and have the hour twice that comes twice", () => {
    const weekly = everyDay("01:00", "04:00")
    assert.deepStrictEqual(starts("Europe/Vienna", "2027-03-28", { weekly }), ["03-28T00:00", "03-28T01:00"])
    const long = ["10-30T23:00", "10-31T00:00", "10-31T01:00", "10-31T02:00"]
    assert.deepStrictEqual(starts("Europe/Vienna", "2027-10-31", { weekly }), long)
    assert.deepStrictEqual(starts("America/New_York", "2027-03-14", { weekly: everyDay("02:00", "03:00") }), [])
  })

  it("are those of several windows a day, without breaks, overrides and what is taken", () => {
    const weekly = [...everyDay("14:00", "16:00"), ...everyDay("09:00", "11:00")]
    const early = ["01-05T00:00", "01-05T01:00", "01-05T05:00", "01-05T06:00"]
    assert.deepStrictEqual(starts("Asia/Tokyo", "2027-01-05", { weekly }), early)
    const breaks = [{ dayOfWeek: null, startTime: "10:30", endTime: "14:30" }]
    assert.deepStrictEqual(starts("UTC", "2027-01-05", { weekly, breaks }), ["01-05T09:00", "01-05T15:00"])
    const on = at("2027-01-05T00:00:00Z")
    const taken: ReadonlyArray<Span> = [{ start: at("2027-01-05T10:00:00Z"), end: at("2027-01-05T11:00:00Z") }]
    const rest = starts("UTC", "2027-01-05", { weekly: everyDay("09:00", "12:00"), taken })
    assert.deepStrictEqual(rest, ["01-05T09:00", "01-05T11:00"])
    const closed = [{ day: on, isAvailable: false, startTime: null, endTime: null }]
    assert.deepStrictEqual(starts("UTC", "2027-01-05", { weekly, overrides: closed }), [])
    const other = [{ day: on, isAvailable: true, startTime: "20:00", endTime: "21:00" }]
    assert.deepStrictEqual(starts("UTC", "2027-01-05", { weekly, overrides: other }), ["01-05T20:00"])
  })

  it("have their buffers inside of the hours", () => {
    const visit = { durationMinutes: 30, bufferBeforeMinutes: 10, bufferAfterMinutes: 20 }
    const found = starts("UTC", "2027-01-05", { weekly: everyDay("09:00", "11:00") }, visit)
    assert.deepStrictEqual(found, ["01-05T09:10", "01-05T10:10"])
  })
})
