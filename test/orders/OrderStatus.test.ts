import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import {
  effectsOf,
  OrderStatus,
  refusedWithRefundedUnits,
  transition,
  transitions,
  TransitionSource
} from "../../src/domain/orders/OrderStatus.ts"

/** The table of the specification, section 3, written out a second time and on its own. */
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

const succeeds = (from: OrderStatus, to: string, by: TransitionSource): boolean =>
  Result.isSuccess(transition(from, to, by))

describe("order status", () => {
  it("permits exactly the changes of the specification, for every pair and source", () => {
    for (const by of TransitionSource.literals) {
      for (const from of OrderStatus.literals) {
        for (const to of OrderStatus.literals) {
          assert.strictEqual(succeeds(from, to, by), model[by].has(`${from} -> ${to}`), `${from} -> ${to} by ${by}`)
        }
      }
    }
  })

  it("reaches fulfilled from partially_fulfilled only by fulfillments", () => {
    assert.isFalse(succeeds("partially_fulfilled", "fulfilled", "request"))
    assert.isFalse(succeeds("partially_fulfilled", "fulfilled", "payment"))
    assert.isTrue(succeeds("partially_fulfilled", "fulfilled", "fulfillment"))
  })

  it("refuses unknown names, also the other spelling of cancelled, with INVALID_TRANSITION", () => {
    for (const name of ["canceled", "", "shipped", "__proto__"]) {
      const result = transition("pending", name, "request")
      assert.isTrue(Result.isFailure(result) && result.failure.error.code === "INVALID_TRANSITION", name)
    }
  })

  it("never leaves cancelled and refunded", () => {
    const left = new Set(transitions.map(({ from }) => from))
    assert.deepStrictEqual(OrderStatus.literals.filter((status) => !left.has(status)), ["cancelled", "refunded"])
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
