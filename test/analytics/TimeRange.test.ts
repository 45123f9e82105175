import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { presetRange, rangeBetween } from "../../src/domain/analytics/TimeRange.ts"

const day = (date: Date | undefined) => date?.toISOString().replace("T00:00:00.000Z", "")

const utc = DateTime.zoneMakeNamedUnsafe("UTC")
const zurich = DateTime.zoneMakeNamedUnsafe("Europe/Zurich")

/** The range of a preset on a day, as `from until`. */
const on = (now: string, zone: DateTime.TimeZone = utc) => (preset: string) => {
  const range = presetRange(preset, new Date(now), zone)
  return range && `${day(range.from)} ${day(range.until)}`
}

describe("a preset of dates", () => {
  it("names days, weeks from Monday, months, quarters and years in UTC", () => {
    const said = on("2026-11-20T23:59:59Z")
    assert.strictEqual(said("today"), "2026-11-20 2026-11-21")
    assert.strictEqual(said("yesterday"), "2026-11-19 2026-11-20")
    assert.strictEqual(said("this week"), "2026-11-16 2026-11-23")
    assert.strictEqual(said("last week"), "2026-11-09 2026-11-16")
    assert.strictEqual(said("this month"), "2026-11-01 2026-12-01")
    assert.strictEqual(said("last month"), "2026-10-01 2026-11-01")
    assert.strictEqual(said("this quarter"), "2026-10-01 2027-01-01")
    assert.strictEqual(said("last quarter"), "2026-07-01 2026-10-01")
    assert.strictEqual(said("this year"), "2026-01-01 2027-01-01")
    assert.strictEqual(said("last year"), "2025-01-01 2026-01-01")
    assert.strictEqual(said("Q1 2025"), "2025-01-01 2025-04-01")
    assert.strictEqual(said("Q4 2026"), "2026-10-01 2027-01-01")
    assert.strictEqual(said("  Last   MONTH "), "2026-10-01 2026-11-01")
    assert.strictEqual(said("all time"), "undefined undefined")
    assert.strictEqual(on("2026-11-22T12:00:00Z")("this week"), "2026-11-16 2026-11-23")
    assert.strictEqual(on("2026-01-15T12:00:00Z")("last quarter"), "2025-10-01 2026-01-01")
  })

  it("names the last N days, weeks, months, quarters and years up to and with today", () => {
    const said = on("2026-11-20T10:00:00Z")
    assert.strictEqual(said("last 1 day"), "2026-11-20 2026-11-21")
    assert.strictEqual(said("last 7 days"), "2026-11-14 2026-11-21")
    assert.strictEqual(said("last 2 weeks"), "2026-11-07 2026-11-21")
    assert.strictEqual(said("last 6 months"), "2026-05-21 2026-11-21")
    assert.strictEqual(said("last 2 quarters"), "2026-05-21 2026-11-21")
    assert.strictEqual(said("last 1 year"), "2025-11-21 2026-11-21")
    assert.strictEqual(on("2026-08-30T10:00:00Z")("last 6 months"), "2026-02-28 2026-08-31")
  })

  it("a preset means local days, of 23 and 25 hours where clocks change", () => {
    const said = on("2026-03-28T23:30:00Z", zurich)
    assert.strictEqual(said("today"), "2026-03-28T23:00:00.000Z 2026-03-29T22:00:00.000Z")
    assert.strictEqual(said("this month"), "2026-02-28T23:00:00.000Z 2026-03-31T22:00:00.000Z")
    assert.strictEqual(on("2026-10-25T12:00:00Z", zurich)("today"), "2026-10-24T22:00:00.000Z 2026-10-25T23:00:00.000Z")
  })

  it("a preset of dates is nothing else", () => {
    const said = on("2026-11-20T10:00:00Z")
    const others = [
      "",
      "now",
      "tomorrow",
      "next week",
      "this day",
      "last weeks",
      "this 2 weeks",
      "last -1 days",
      "last 0 days",
      "last 1001 days",
      "last 2days",
      "Q0 2026",
      "Q1 26",
      "Q1 0050",
      "last decade",
      "__proto__"
    ]
    for (const other of others) assert.isUndefined(said(other), other)
  })
})

describe("a range between two texts", () => {
  const between = (from: string, to: string, withEnd = false) => {
    const range = rangeBetween(from, to, zurich, withEnd)
    return typeof range === "string" ? range : [range.from?.toISOString(), range.until?.toISOString(), range.withEnd]
  }

  it("ends with the last local day, or at the time that is sent", () => {
    const from = "2026-10-24T22:00:00.000Z"
    assert.deepStrictEqual(between("2026-10-25", "2026-10-25", true), [from, "2026-10-25T23:00:00.000Z", false])
    assert.deepStrictEqual(between("2026-10-25", "2026-10-25T12:00"), [from, "2026-10-25T11:00:00.000Z", false])
    assert.deepStrictEqual(between("2026-10-25", "2026-10-25T00:00", true), [from, from, true])
  })

  it("is refused for other texts and for an end that is not after its beginning", () => {
    for (const text of ["2026-02-30", "2026-13-01", "2026-1-1", "20260101", "2026-01-01T25:00:00Z", "soon", ""]) {
      assert.match(String(between("2026-01-01", text)), /two dates or times/, text)
    }
    const order = "must have a second date or time that is after the first one."
    assert.strictEqual(between("2026-12-01", "2026-11-01"), order)
    assert.strictEqual(between("2026-12-01T10:00", "2026-12-01T10:00"), order)
    assert.strictEqual(between("2026-12-01T10:00", "2026-12-01T09:59", true), order)
  })
})
