import { assert, describe, it } from "@effect/vitest"
import { momentNamed, presetRange, rangeBetween } from "../../src/domain/analytics/TimeRange.ts"

const day = (date: Date | undefined) => date?.toISOString().replace("T00:00:00.000Z", "")

/** The range of a preset on a day, as `from until`. */
const on = (now: string) => (preset: string) => {
  const range = presetRange(preset, new Date(now))
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

describe("a date", () => {
  it("a date is one of the calendar, in ISO 8601", () => {
    for (const text of ["2026-02-30", "2026-13-01", "2026-1-1", "20260101", "2026-01-01T25:00:00Z", "soon", ""]) {
      assert.isUndefined(momentNamed(text), text)
    }
    assert.strictEqual(momentNamed("2024-02-29")?.moment.toISOString(), "2024-02-29T00:00:00.000Z")
    assert.strictEqual(momentNamed("2026-01-01T10:00")?.moment.toISOString(), "2026-01-01T10:00:00.000Z")
    assert.strictEqual(momentNamed("2026-01-01T10:00:00+02:00")?.moment.toISOString(), "2026-01-01T08:00:00.000Z")
  })

  it("a date at the end of a range is a whole day where it has no time", () => {
    const [from, to, time] = [momentNamed("2026-01-01"), momentNamed("2026-01-31"), momentNamed("2026-01-31T00:00:00Z")]
    if (from === undefined || to === undefined || time === undefined) throw new Error("no moments")
    assert.strictEqual(day(rangeBetween(from, to, false).until), "2026-02-01")
    assert.strictEqual(day(rangeBetween(from, time, false).until), "2026-01-31")
    assert.deepStrictEqual([to, time].map((end) => rangeBetween(from, end, true).withEnd), [false, true])
  })
})
