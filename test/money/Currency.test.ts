import { assert, describe, it } from "@effect/vitest"
import { Option, Result, Schema } from "effect"
import {
  CurrencyCode,
  exponentOf,
  formatAmount,
  parseAmount,
  SignedMinor
} from "../../src/domain/platform/money/Money.ts"

const decode = Schema.decodeUnknownOption(CurrencyCode)
const code = (text: string) => Schema.decodeSync(CurrencyCode)(text)

describe("currency codes", () => {
  it("are upper-cased and known", () => {
    assert.strictEqual(code("gbp"), "GBP")
    for (const text of ["", "GB", "GBPX", "ZZZ", "€", 826]) assert.isTrue(Option.isNone(decode(text)), `${text}`)
  })

  it("have the decimals of ISO 4217", () => {
    const expected = { GBP: 2, EUR: 2, USD: 2, JPY: 0, KRW: 0, KWD: 3, TND: 3 }
    for (const [text, exponent] of Object.entries(expected)) assert.strictEqual(exponentOf(code(text)), exponent)
  })
})

describe("decimal strings", () => {
  it("become minor units exactly", () => {
    const cases = [
      ["2.55", "GBP", 255],
      ["1500", "JPY", 1500],
      ["1.234", "KWD", 1234],
      ["-0.05", "GBP", -5],
      ["7.5", "EUR", 750],
      ["0.00", "EUR", 0],
      ["90071992547409.91", "EUR", Number.MAX_SAFE_INTEGER]
    ] as const
    for (const [text, currency, expected] of cases) {
      assert.strictEqual<number>(Result.getOrThrow(parseAmount(text, code(currency))), expected)
    }
  })

  it("with more decimals than the currency has, or in another notation, are refused", () => {
    const cases = [
      ["2.555", "GBP"],
      ["2.550", "GBP"],
      ["1500.0", "JPY"],
      ["1.2345", "KWD"],
      ["1e3", "GBP"],
      ["1,000", "GBP"],
      [" 1", "GBP"],
      [".5", "GBP"],
      ["5.", "GBP"],
      ["+5", "GBP"],
      ["", "GBP"],
      ["90071992547409.92", "EUR"]
    ] as const
    for (const [text, currency] of cases) assert.isTrue(Result.isFailure(parseAmount(text, code(currency))), text)
  })

  it.prop(
    "survive the way there and back in every currency",
    { amount: SignedMinor, currency: Schema.Literals(["JPY", "GBP", "KWD"]) },
    ({ amount, currency }) =>
      Result.getOrThrow(parseAmount(formatAmount(amount, code(currency)), code(currency))) === amount + 0,
    { arbitrary: { runs: 2000 } }
  )

  it("show all decimals of the currency", () => {
    assert.strictEqual(formatAmount(SignedMinor.make(-5), code("GBP")), "-0.05")
    assert.strictEqual(formatAmount(SignedMinor.make(1500), code("JPY")), "1500")
    assert.strictEqual(formatAmount(SignedMinor.make(1234), code("KWD")), "1.234")
  })
})
