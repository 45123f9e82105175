import { payoutSchedules } from "../vendors/Vendor.ts"

const day = 86_400_000

/** A Monday, from which weeks and fortnights are counted. */
const firstMonday = Date.UTC(1970, 0, 5)

const since = (origin: number, length: number, at: number): Date =>
  new Date(origin + Math.floor((at - origin) / length) * length)

/**
 * The first moment (UTC) of the period that contains a moment: days, weeks from Monday, fortnights, months. A vendor is paid
 * once in each, at the first run that falls into it, so a day without a run skips no payout. `manual` has none.
 */
export const periodStart = (schedule: typeof payoutSchedules[number], at: Date): Date | undefined => {
  switch (schedule) {
    case "daily":
      return since(0, day, at.getTime())
    case "weekly":
      return since(firstMonday, 7 * day, at.getTime())
    case "biweekly":
      return since(firstMonday, 14 * day, at.getTime())
    case "monthly":
      return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1))
    case "manual":
      return undefined
  }
}

/** The periods that are going on. */
export const periodsAt = (at: Date) =>
  payoutSchedules.flatMap((schedule) => {
    const start = periodStart(schedule, at)
    return start === undefined ? [] : [{ schedule, start }]
  })
export type Periods = ReturnType<typeof periodsAt>
