import { Data, Result, Schema, SchemaTransformation } from "effect"
import { money } from "../hints/Hints.ts"
import { ofForm } from "../text/Storable.ts"

export type Exponent = 0 | 2 | 3

const withTwoDecimals =
  "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY " +
  "COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF " +
  "IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR " +
  "MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG " +
  "SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES " +
  "WST XCD XCG YER ZAR ZMW ZWG"
const withoutDecimals = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
const withThreeDecimals = "BHD IQD JOD KWD LYD OMR TND"

const exponents: ReadonlyMap<string, Exponent> = new Map([
  ...withTwoDecimals.split(" ").map((code) => [code, 2] as const),
  ...withoutDecimals.split(" ").map((code) => [code, 0] as const),
  ...withThreeDecimals.split(" ").map((code) => [code, 3] as const)
])

/**
 * Three letters: any case in requests, else upper case (contract 0.2). Refuses codes that are no current ISO 4217
 * currency with 0, 2 or 3 decimals.
 */
export const CurrencyCode = Schema.String.check(ofForm(/^[A-Za-z]{3}$/, "the code of a currency, such as EUR"))
  .annotate({
    description: "A currency of ISO 4217.",
    examples: ["EUR"]
  }).pipe(
    Schema.decodeTo(
      Schema.String.check(
        Schema.makeFilter(
          (code: string) => exponents.has(code) || "must be the code of a current currency, such as EUR.",
          {
            code: "unknown_value"
          }
        )
      ).pipe(Schema.brand("CurrencyCode")),
      SchemaTransformation.toUpperCase()
    )
  )
/** The same as it is shown. */
export const Currency = Schema.String.annotate({ description: "A currency of ISO 4217.", examples: ["EUR"] })
export type CurrencyCode = typeof CurrencyCode.Type

export const isCurrencyCode: (code: string) => code is CurrencyCode = Schema.is(CurrencyCode)

/** Decimals of a currency: JPY 0, GBP 2, KWD 3. */
export const exponentOf = (currency: CurrencyCode): Exponent => exponents.get(currency) ?? 2

export class MalformedAmount
  extends Data.TaggedError("MalformedAmount")<{ readonly text: string; readonly currency: string }>
{
  override get message(): string {
    return `"${this.text}" is not an amount in ${this.currency}.`
  }
}

const decimal = /^(-?)(\d+)(?:\.(\d+))?$/

/**
 * Parses major units exactly: "2.55" GBP is 255, "1500" JPY is 1500. Refuses more decimals than the currency has, even
 * zeros.
 */
export const parseAmount = (
  text: string,
  currency: CurrencyCode
): Result.Result<SignedMinor, MalformedAmount | AmountOutOfRange> => {
  const exponent = exponentOf(currency)
  const parts = decimal.exec(text)
  const fraction = parts?.[3] ?? ""
  if (parts === null || fraction.length > exponent) return Result.fail(new MalformedAmount({ text, currency }))
  return signedMinor(BigInt(`${parts[1]}${parts[2]}${fraction.padEnd(exponent, "0")}`), "amount")
}

/** Formats minor units with all decimals: 5 GBP is "0.05". */
export const formatAmount = (amount: SignedMinor, currency: CurrencyCode): string => {
  const exponent = exponentOf(currency)
  const digits = String(Math.abs(amount)).padStart(exponent + 1, "0")
  const sign = amount < 0 ? "-" : ""
  const point = digits.length - exponent
  return exponent === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** The largest amount anywhere: 2^53 - 1 minor units (contract 0.2). */
export const maxMinor = Number.MAX_SAFE_INTEGER

/** An amount in minor units that may be negative (contract 0.2). */
export const SignedMinor = Schema.Int.check(Schema.isBetween({ minimum: -maxMinor, maximum: maxMinor }))
  .annotate(money).pipe(Schema.brand("SignedMinor"))
export type SignedMinor = typeof SignedMinor.Type

/** An amount in minor units from 0 to 2^53 - 1 (contract 0.2). */
export const Minor = SignedMinor.check(Schema.isBetween({ minimum: 0, maximum: maxMinor })).pipe(Schema.brand("Minor"))
export type Minor = typeof Minor.Type

export class AmountOutOfRange extends Data.TaggedError("AmountOutOfRange")<{ readonly subject: string }> {
  override get message(): string {
    return `The ${this.subject} is outside the range of amounts.`
  }
}

const isSigned = (value: number): value is SignedMinor => Number.isSafeInteger(value)
const isMinor = (value: number): value is Minor => isSigned(value) && value >= 0

export const signedMinor = (value: number | bigint, subject: string): Result.Result<SignedMinor, AmountOutOfRange> => {
  // A float sum or product of safe integers is a safe integer only when exact. `+ 0` turns -0 into 0.
  const amount = Number(value) + 0
  return isSigned(amount) ? Result.succeed(amount) : Result.fail(new AmountOutOfRange({ subject }))
}

export const minor = (value: number | bigint, subject: string): Result.Result<Minor, AmountOutOfRange> => {
  const amount = Number(value) + 0
  return isMinor(amount) ? Result.succeed(amount) : Result.fail(new AmountOutOfRange({ subject }))
}

export const sum = (amounts: Iterable<number>, subject: string): Result.Result<SignedMinor, AmountOutOfRange> => {
  let total = 0n
  for (const amount of amounts) {
    if (!isSigned(amount)) return Result.fail(new AmountOutOfRange({ subject }))
    total += BigInt(amount)
  }
  return signedMinor(total, subject)
}

/** Multiplies by an integer factor; fails out of range. */
export const times = (
  amount: number,
  factor: number,
  subject: string
): Result.Result<SignedMinor, AmountOutOfRange> =>
  Number.isSafeInteger(amount) && Number.isSafeInteger(factor)
    ? signedMinor(amount * factor, subject)
    : Result.fail(new AmountOutOfRange({ subject }))

/**
 * Rounds numerator / denominator exactly, halves up (2.5 is 3, -2.5 is -2), as contract 3.3 does. The denominator is
 * positive.
 */
export const roundHalfUp = (numerator: bigint, denominator: bigint): bigint => {
  // floor(n / d + 1 / 2) = floor((2 n + d) / 2 d); BigInt truncates, so a negative remainder steps down once.
  const doubled = 2n * numerator + denominator
  const quotient = doubled / (2n * denominator)
  return doubled % (2n * denominator) < 0n ? quotient - 1n : quotient
}

const notation = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/

/** The exact fraction of the shortest notation: 0.1 is 1 / 10, not the nearest float. Undefined if not finite. */
export const exactFraction = (
  value: number
): { readonly numerator: bigint; readonly denominator: bigint } | undefined => {
  const parts = notation.exec(String(value))
  if (parts === null) return undefined
  const [, sign = "", whole = "0", fraction = "", exponent = "0"] = parts
  const digits = BigInt(`${sign}${whole}${fraction}`)
  const scale = fraction.length - Number(exponent)
  return scale > 0
    ? { numerator: digits, denominator: 10n ** BigInt(scale) }
    : { numerator: digits * 10n ** BigInt(-scale), denominator: 1n }
}

/**
 * `percent` of an amount, rounded half up once: 8.25 % of 1500 is 124 (contract 3.3, 3.5). 0 for a percentage that is
 * not finite.
 */
export const percentOf = (amount: bigint, percent: number): bigint => {
  const share = exactFraction(percent) ?? { numerator: 0n, denominator: 1n }
  return roundHalfUp(amount * share.numerator, 100n * share.denominator)
}

const magnitude = (value: bigint): bigint => value < 0n ? -value : value

const integer = (value: number, subject: string): bigint => {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${subject} is not a safe integer: ${value}`)
  return BigInt(value)
}

const readWeights = (weights: ReadonlyArray<number>): ReadonlyArray<bigint> => {
  const exact = weights.map((weight) => integer(weight, "A weight"))
  if (exact.some((weight) => weight < 0n)) throw new RangeError("A weight is negative.")
  return exact.some((weight) => weight > 0n) ? exact : exact.map(() => 1n)
}

/**
 * Splits `total` minor units over weights by the largest remainder, ties to the earlier index (contract 3.3). The parts
 * add up to the total. Weights that are all zero split it equally; a negative total negates the parts. No part exceeds
 * its weight while 0 <= total <= sum of weights: a discount never exceeds its line.
 * Throws RangeError unless weights are safe integers from 0 up, and at least one for a nonzero total.
 */
export const allocate = (total: number, weights: ReadonlyArray<number>): ReadonlyArray<number> => {
  const signed = integer(total, "The total")
  if (weights.length === 0) {
    if (signed !== 0n) throw new RangeError(`Nothing to allocate ${total} to.`)
    return []
  }
  const exact = readWeights(weights)
  const whole = exact.reduce((left, right) => left + right, 0n)
  const amount = magnitude(signed)
  const parts = exact.map((weight) => amount * weight / whole)
  const left = Number(parts.reduce((rest, part) => rest - part, amount))
  const byRemainder = exact
    .map((weight, index) => ({ index, remainder: amount * weight % whole }))
    .sort((a, b) => a.remainder === b.remainder ? a.index - b.index : a.remainder > b.remainder ? -1 : 1)
  const favoured = new Set(byRemainder.slice(0, left).map((entry) => entry.index))
  const sign = signed < 0n ? -1n : 1n
  return parts.map((part, index) => Number(sign * (favoured.has(index) ? part + 1n : part)))
}

/** An amount without a bound. */
export const MinorUnits = Schema.Int.annotate(money)

/** Minor units from 0 to 2^53 - 1 (contract §0.2). */
export const Amount = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
  .annotate(money)
