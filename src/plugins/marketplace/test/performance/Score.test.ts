import { assert, describe, it } from "@effect/vitest"
import { type Figures, scoreOf, shownRating } from "../../performance/Score.ts"

const thresholds = {
  minRating: 3,
  maxDefectRatePercent: 5,
  maxLateShipmentRatePercent: 10,
  maxCancellationRatePercent: 5
}
const spotless: Figures = { subOrders: 100, late: 0, cancelled: 0, defects: 0, reviews: 3, averageRating: 4.9 }
const score = (figures: Partial<Figures>, of = thresholds) => scoreOf({ ...spotless, ...figures }, of)

describe("the score of a vendor", () => {
  it("the score of a vendor is 100 for who keeps within the thresholds, and for who has sold nothing", () => {
    assert.strictEqual(score({ late: 10, cancelled: 5, defects: 5, averageRating: 3 }), 100)
    assert.strictEqual(score({ subOrders: 0, reviews: 0, averageRating: null }), 100)
  })

  it("the score of a vendor loses 25 points for each rate at twice its threshold or worse, and a part of them before", () => {
    assert.deepStrictEqual([score({ late: 15 }), score({ late: 20 }), score({ late: 100 })], [88, 75, 75])
    assert.deepStrictEqual([score({ cancelled: 7 }), score({ cancelled: 10 })], [90, 75])
    assert.deepStrictEqual([score({ defects: 6 }), score({ defects: 50 })], [95, 75])
  })

  it("the score of a vendor loses 25 points for one star, and a part of them below the rating that is wanted", () => {
    assert.deepStrictEqual([score({ averageRating: 2.5 }), score({ averageRating: 2 }), score({ averageRating: 1 })], [
      94,
      88,
      75
    ])
  })

  it("the score of a vendor is 0 for who does everything wrong", () => {
    assert.strictEqual(score({ late: 100, cancelled: 100, defects: 100, averageRating: 1 }), 0)
  })

  it("the score of a vendor takes a threshold of 0 as no tolerance, and a wanted rating of 1 as any", () => {
    const strict = { ...thresholds, maxDefectRatePercent: 0, minRating: 1 }
    assert.deepStrictEqual([score({ defects: 0 }, strict), score({ defects: 1 }, strict)], [100, 75])
    assert.strictEqual(score({ averageRating: 1 }, strict), 100)
  })
})

describe("a rating as it is shown", () => {
  it("a rating as it is shown has one decimal, and is 0 without reviews", () => {
    assert.deepStrictEqual(shownRating({ averageRating: 4.25, reviews: 4 }), { average: 4.3, count: 4 })
    assert.deepStrictEqual(shownRating({ averageRating: 11 / 3, reviews: 3 }), { average: 3.7, count: 3 })
    assert.deepStrictEqual(shownRating({ averageRating: null, reviews: 0 }), { average: 0, count: 0 })
  })
})
