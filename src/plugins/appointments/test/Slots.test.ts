import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { day, stretchesOf } from "../LocalTime.ts"
import { type Agenda, slotsOf, type Span, type Visit } from "../Slots.ts"

const at = (text: string) => DateTime.makeUnsafe(text).epochMilliseconds
const everyDay = (startTime: string, endTime: string) =>
  Array.from({ length: 7 }, (_, dayOfWeek) => ({ dayOfWeek, startTime, endTime }))
const hour: Visit = { startStepMinutes: null, durationMinutes: 60, bufferBeforeMinutes: 0, bufferAfterMinutes: 0 }

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
    const visit = { startStepMinutes: null, durationMinutes: 30, bufferBeforeMinutes: 10, bufferAfterMinutes: 20 }
    const found = starts("UTC", "2027-01-05", { weekly: everyDay("09:00", "11:00") }, visit)
    assert.deepStrictEqual(found, ["01-05T09:10", "01-05T10:10"])
  })

  const every = (startStepMinutes: number, durationMinutes: number, more = {}) => ({
    ...hour,
    startStepMinutes,
    durationMinutes,
    ...more
  })

  it("begin at steps of the full hour, inside of the hours and off what is taken", () => {
    const weekly = everyDay("09:15", "11:30")
    const found = (visit: Visit) => starts("UTC", "2027-01-05", { weekly }, visit).map((one) => one.slice(6))
    assert.deepStrictEqual(found(every(30, 50)), ["09:30", "10:00", "10:30"])
    assert.deepStrictEqual(found(every(15, 120)), ["09:15", "09:30"])
    assert.deepStrictEqual(found(every(60, 5)), ["10:00", "11:00"])
    const buffers = { bufferBeforeMinutes: 20, bufferAfterMinutes: 15 }
    assert.deepStrictEqual(found(every(30, 50, buffers)), ["10:00"])
    const taken = [{ start: at("2027-01-05T10:20:00Z"), end: at("2027-01-05T10:30:00Z") }]
    const rest = starts("UTC", "2027-01-05", { weekly, taken }, every(30, 50))
    assert.deepStrictEqual(rest, ["01-05T09:30", "01-05T10:30"])
  })

  it("keep to the local full hour of any zone, also where its clocks change", () => {
    const weekly = everyDay("01:00", "04:00")
    const nights = (zone: string, date: string, step: number) =>
      starts(zone, date, { weekly }, every(step, 50)).map((one) => one.slice(6))
    assert.deepStrictEqual(nights("Europe/Vienna", "2027-03-28", 30), ["00:00", "00:30", "01:00"])
    const long = ["23:00", "23:30", "00:00", "00:30", "01:00", "01:30", "02:00"]
    assert.deepStrictEqual(nights("Europe/Vienna", "2027-10-31", 30), long)
    assert.deepStrictEqual(nights("Asia/Kathmandu", "2027-01-05", 60), ["19:15", "20:15", "21:15"])
    // Clocks go back by half an hour at two: the full hours are 1:00, 2:00 and 3:00 of the clock.
    assert.deepStrictEqual(nights("Australia/Lord_Howe", "2027-04-04", 60), ["14:00", "15:30", "16:30"])
  })
})
