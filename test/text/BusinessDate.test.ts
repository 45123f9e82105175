import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { businessDate, DayStart, TimeZone } from "../../src/domain/platform/text/BusinessDate.ts"

/** A moment, a zone, the start of its days, and the date of business. */
const dates: ReadonlyArray<readonly [moment: string, zone: string, start: string, date: string]> = [
  ["2026-11-28T23:30:00Z", "UTC", "00:00", "2026-11-28"],
  ["2026-11-28T23:30:00Z", "Europe/Zurich", "00:00", "2026-11-29"],
  ["2026-11-28T23:30:00Z", "Europe/Zurich", "04:00", "2026-11-28"],
  ["2026-11-29T03:00:00Z", "Europe/Zurich", "04:00", "2026-11-29"],
  ["2027-01-01T02:59:59Z", "Europe/Zurich", "04:00", "2026-12-31"],
  ["2026-11-28T05:00:00Z", "America/New_York", "00:00", "2026-11-28"],
  ["2026-11-28T04:59:00Z", "America/New_York", "00:00", "2026-11-27"],
  // Clocks go back from 03:00 to 02:00: 02:30 is there twice, and both belong to the evening before.
  ["2026-10-25T00:30:00Z", "Europe/Zurich", "03:00", "2026-10-24"],
  ["2026-10-25T01:30:00Z", "Europe/Zurich", "03:00", "2026-10-24"],
  // Clocks go forward from 02:00 to 03:00: a day that begins at 02:30 begins at 03:00.
  ["2026-03-29T00:59:00Z", "Europe/Zurich", "02:30", "2026-03-28"],
  ["2026-03-29T01:00:00Z", "Europe/Zurich", "02:30", "2026-03-29"]
]

describe("a date of business", () => {
  for (const [moment, zone, start, date] of dates) {
    it(`is ${date} at ${moment} in ${zone}, where days begin at ${start}`, () => {
      assert.strictEqual(businessDate(new Date(moment), zone, start), date)
    })
  }

  it("knows only zones and starts that exist", () => {
    const [isZone, isStart] = [Schema.is(TimeZone), Schema.is(DayStart)]
    assert.deepStrictEqual(["Europe/Zurich", "UTC", "Mars/Base"].map(isZone), [true, true, false])
    assert.deepStrictEqual(["00:00", "23:59", "24:00", "4:00"].map(isStart), [true, true, false, false])
  })
})
