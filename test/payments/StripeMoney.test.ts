import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { fromStripe, toStripe } from "../../src/layers/payments/StripeMoney.ts"

describe("amounts at Stripe", () => {
  it("sends amounts in minor units, with or without decimals", () => {
    for (
      const [amount, currency] of [[1_050, "USD"], [1_050, "usd"], [500, "JPY"], [500, "XAF"], [1_230, "KWD"]] as const
    ) {
      assert.deepStrictEqual(toStripe(amount, currency), Option.some(amount), currency)
      assert.strictEqual(fromStripe(amount, currency), amount, currency)
    }
  })

  it("refuses an amount with three decimals that does not end in 0", () => {
    for (const currency of ["BHD", "JOD", "KWD", "OMR", "TND"]) {
      assert.deepStrictEqual(toStripe(1_234, currency), Option.none(), currency)
    }
  })

  it("sends króna and Ugandan shilling with two decimals", () => {
    for (const currency of ["ISK", "UGX"]) {
      assert.deepStrictEqual(toStripe(500, currency), Option.some(50_000))
      assert.strictEqual(fromStripe(50_000, currency), 500)
      assert.strictEqual(fromStripe(50_099, currency), 500)
    }
  })

  it("sends whole ariary", () => {
    assert.deepStrictEqual(toStripe(500, "MGA"), Option.some(5))
    assert.deepStrictEqual(toStripe(550, "MGA"), Option.none())
    assert.strictEqual(fromStripe(5, "MGA"), 500)
  })

  it("refuses an amount beyond the safe integers", () => {
    assert.deepStrictEqual(toStripe(Number.MAX_SAFE_INTEGER, "ISK"), Option.none())
  })
})
