import { Schema } from "effect"
import type { PerformanceThresholds } from "../MarketplaceOptions.ts"

/** How a vendor did: sub-orders of the last 90 days, and of them those that went wrong; reviews of all times. */
export const Figures = Schema.Struct({
  subOrders: Schema.Int,
  /** Were shipped after `shipWithinDays`, or should have been by now. */
  late: Schema.Int,
  cancelled: Schema.Int,
  /** Had a dispute that was not decided for the vendor, or came back as faulty. */
  defects: Schema.Int,
  /** Published ones. */
  reviews: Schema.Int,
  /** Of these, 1 to 5; null without any. */
  averageRating: Schema.NullOr(Schema.Number)
})
export type Figures = typeof Figures.Type

/** What each of the four figures can cost at most. */
const share = 25

export const percentOf = (count: number, of: number): number => of === 0 ? 0 : (100 * count) / of

/** Nothing up to the most that is tolerated; beyond it in proportion, everything from twice as much on. */
const lossOfRate = (percent: number, most: number): number =>
  percent <= most ? 0 : most === 0 ? share : share * Math.min(1, (percent - most) / most)

/** Nothing from the least that is wanted on; below it in proportion, everything at one star. */
const lossOfRating = (average: number | null, least: number): number =>
  average === null || average >= least ? 0 : share * Math.min(1, (least - average) / (least - 1))

/**
 * A vendor's score, 0 to 100: 25 points each for shipping in time, for not cancelling, for goods without defects and for
 * its rating (README.md). Who has sold nothing and has no reviews has 100. Rounded half up.
 */
export const scoreOf = (figures: Figures, thresholds: PerformanceThresholds): number => {
  const { averageRating, cancelled, defects, late, subOrders } = figures
  const lost = lossOfRate(percentOf(late, subOrders), thresholds.maxLateShipmentRatePercent) +
    lossOfRate(percentOf(cancelled, subOrders), thresholds.maxCancellationRatePercent) +
    lossOfRate(percentOf(defects, subOrders), thresholds.maxDefectRatePercent) +
    lossOfRating(averageRating, thresholds.minRating)
  return Math.round(100 - lost)
}

/** To one decimal, as people are shown it; 0 without reviews. */
export const shownRating = ({ averageRating, reviews }: Pick<Figures, "averageRating" | "reviews">) => ({
  average: averageRating === null ? 0 : Math.round(averageRating * 10) / 10,
  count: reviews
})
