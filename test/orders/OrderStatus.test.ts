import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import {
  effectsOf,
  OrderStatus,
  refusedWithRefundedUnits,
  transition,
  TransitionSource
} from "../../src/domain/orders/OrderStatus.ts"

/** The table of the specification, section 3, written out a second time. */
const byRequest = `
  pending -> confirmed, cancelled
  confirmed -> processing, cancelled
  processing -> partially_fulfilled, fulfilled, cancelled
  partially_fulfilled -> refunded, cancelled
  fulfilled -> refunded
`
const byFulfillment = `
  confirmed -> processing
  processing -> partially_fulfilled, fulfilled
  partially_fulfilled -> fulfilled
`
const byPayment = `
  pending -> confirmed, cancelled
  partially_fulfilled -> refunded
  fulfilled -> refunded
`
const pairs = (table: string): ReadonlySet<string> =>
  new Set(
    table.trim().split("\n").flatMap((row) => {
      const [from = "", targets = ""] = row.trim().split(" -> ")
      return targets.split(", ").map((to) => `${from} -> ${to}`)
    })
  )
const model = { request: pairs(byRequest), fulfillment: pairs(byFulfillment), payment: pairs(byPayment) }

describe("order status", () => {
  it("permits exactly the changes of the specification, for every pair and source", () => {
    for (const by of TransitionSource.literals) {
      for (const from of OrderStatus.literals) {
        for (const to of OrderStatus.literals) {
          assert.strictEqual(
            Result.isSuccess(transition(from, to, by)),
            model[by].has(`${from} -> ${to}`),
            `${from} -> ${to} by ${by}`
          )
        }
      }
    }
  })

  it("gives money back only when cancelled or refunded, and takes stock only when fulfilled", () => {
    const withEffect = (effect: string) =>
      OrderStatus.literals.filter((to) => effectsOf[to].some((one) => one === effect))
    assert.deepStrictEqual(withEffect("returnPayment"), ["cancelled", "refunded"])
    assert.deepStrictEqual(withEffect("deductStock"), ["fulfilled"])
    assert.deepStrictEqual(withEffect("releaseReservations"), ["cancelled"])
    assert.deepStrictEqual(effectsOf.partially_fulfilled, [])
    assert.deepStrictEqual(refusedWithRefundedUnits, ["fulfilled"])
  })
})
