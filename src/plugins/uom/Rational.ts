import { BigDecimal } from "effect"

const divisor = (a: bigint, b: bigint): bigint => b === 0n ? a : divisor(b, a % b)
const size = (value: bigint): bigint => value < 0n ? -value : value

/** Of a number, a decimal text such as "2.2046", or a whole number. */
export type Exact = Rational | number | string | bigint

/** An exact number: what is bought, mixed and divided loses nothing until it is rounded once. */
export class Rational {
  readonly numerator: bigint
  /** Above 0. */
  readonly denominator: bigint

  private constructor(numerator: bigint, denominator: bigint) {
    const sign = denominator < 0n ? -1n : 1n
    const shared = divisor(size(numerator), size(denominator)) * sign
    this.numerator = numerator / shared
    this.denominator = denominator / shared
  }

  static of(value: Exact): Rational {
    if (value instanceof Rational) return value
    const { scale, value: digits } = BigDecimal.fromStringUnsafe(String(value))
    return scale >= 0 ? new Rational(digits, 10n ** BigInt(scale)) : new Rational(digits * 10n ** BigInt(-scale), 1n)
  }

  times(other: Exact): Rational {
    const { denominator, numerator } = Rational.of(other)
    return new Rational(this.numerator * numerator, this.denominator * denominator)
  }

  /** Divided by what is not 0. */
  per(other: Exact): Rational {
    const { denominator, numerator } = Rational.of(other)
    return new Rational(this.numerator * denominator, this.denominator * numerator)
  }

  plus(other: Exact): Rational {
    const { denominator, numerator } = Rational.of(other)
    return new Rational(
      this.numerator * denominator + numerator * this.denominator,
      this.denominator * denominator
    )
  }

  minus(other: Exact): Rational {
    return this.plus(Rational.of(other).times(-1))
  }

  equals(other: Exact): boolean {
    return this.minus(other).numerator === 0n
  }

  get isPositive(): boolean {
    return this.numerator > 0n
  }

  get isWhole(): boolean {
    return this.denominator === 1n
  }

  /** The next whole number that is not smaller. */
  ceil(): number {
    const whole = this.numerator / this.denominator
    return Number(this.numerator > whole * this.denominator ? whole + 1n : whole)
  }

  /** Rounded half away from 0 to a whole number. */
  round(): number {
    return Number(this.decimal(0))
  }

  /** A decimal text of at most so many digits after the point, rounded half away from 0, without zeros at its end. */
  decimal(scale: number): string {
    const scaled = size(this.numerator) * 10n ** BigInt(scale)
    const rounded = (2n * scaled + this.denominator) / (2n * this.denominator)
    const digits = rounded.toString().padStart(scale + 1, "0")
    const [whole, rest] = [digits.slice(0, digits.length - scale), digits.slice(digits.length - scale)]
    const decimals = rest.replace(/0+$/, "")
    const sign = this.numerator < 0n && rounded > 0n ? "-" : ""
    return `${sign}${whole}${decimals === "" ? "" : `.${decimals}`}`
  }
}
