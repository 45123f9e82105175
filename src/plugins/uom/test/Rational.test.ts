import { assert, describe, it } from "@effect/vitest"
import { purchaseQuantity } from "../index.ts"
import { Rational } from "../Rational.ts"

describe("a rational", () => {
  it("reads numbers and decimal texts exactly", () => {
    const texts = [0.1, 1e-7, 1e21, "12.500", "-0.25", 0, 7n].map((one) => Rational.of(one).decimal(20))
    assert.deepStrictEqual(texts, ["0.1", "0.0000001", "1000000000000000000000", "12.5", "-0.25", "0", "7"])
  })

  it("rounds half away from zero, and up where a part is a whole unit", () => {
    const of = (text: string) => Rational.of(text)
    assert.deepStrictEqual(["2.345", "-2.345", "-0.004"].map((text) => of(text).decimal(2)), ["2.35", "-2.35", "0"])
    const ceilings = [of("1").per(3), of("3"), of("-1").per(3)].map((one) => one.ceil())
    assert.deepStrictEqual([of("2.5").round(), ...ceilings], [3, 1, 3, 0])
    assert.strictEqual(Rational.of(2).per(3).decimal(5), "0.66667")
  })

  it("loses nothing in any chain of products, quotients and sums", () => {
    for (let n = 1; n <= 500; n++) {
      const [a, b] = [Rational.of(n * 7919 % 1_009 + 1), Rational.of(`${n % 97 + 1}.${n % 10}`)]
      assert.isTrue(a.per(b).times(b).equals(a))
      assert.isTrue(a.plus(b).minus(b).equals(a) && a.per(3).plus(a.per(3)).plus(a.per(3)).equals(a))
    }
  })

  it("says how much to buy so that enough is left", () => {
    assert.deepStrictEqual([100, 80, 30].map((share) => purchaseQuantity(10, share)), [10, 13, 34])
  })
})
