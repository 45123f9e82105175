import { Data, Result, Schema, SchemaTransformation } from "effect"
import { ofForm } from "../text/Storable.ts"

/** How many decimals the major unit of a currency has. */
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
 * A currency: three letters in any case in requests, upper case everywhere else (contract 0.2). A code that is not a
 * current ISO 4217 currency with 0, 2 or 3 decimals is refused.
 */
export const CurrencyCode = Schema.String.check(ofForm(/^[A-Za-z]{3}$/)).pipe(
  Schema.decodeTo(
    Schema.String.check(
      Schema.makeFilter((code: string) => exponents.has(code) || `Unknown currency ${code}`)
    ).pipe(Schema.brand("CurrencyCode")),
    SchemaTransformation.toUpperCase()
  )
)
/** See the schema of the same name. */
export type CurrencyCode = typeof CurrencyCode.Type

/** Whether a string is the upper-case code of a known currency. */
export const isCurrencyCode: (code: string) => code is CurrencyCode = Schema.is(CurrencyCode)

/** How many decimals a currency has: JPY 0, GBP 2, KWD 3. */
export const exponentOf = (currency: CurrencyCode): Exponent => exponents.get(currency) ?? 2

/** The text is not a decimal number that the currency can represent exactly. */
export class MalformedAmount
  extends Data.TaggedError("MalformedAmount")<{ readonly text: string; readonly currency: string }>
{
  override get message(): string {
    return `"${this.text}" is not an amount in ${this.currency}.`
  }
}

const decimal = /^(-?)(\d+)(?:\.(\d+))?$/

/**
 * Minor units of a decimal string in major units, exactly: "2.55" GBP is 255, "1500" JPY is 1500, "1.234" KWD is 1234.
 * Digits with an optional sign and point only; more decimals than the currency has are refused, even zeros.
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

/** The decimal string of minor units in major units, with all decimals of the currency: 5 GBP is "0.05". */
export const formatAmount = (amount: SignedMinor, currency: CurrencyCode): string => {
  const exponent = exponentOf(currency)
  const digits = String(Math.abs(amount)).padStart(exponent + 1, "0")
  const sign = amount < 0 ? "-" : ""
  const point = digits.length - exponent
  return exponent === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** The largest amount any record, request or computation may hold: 2^53 - 1 minor units (contract 0.2). */
export const maxMinor = Number.MAX_SAFE_INTEGER

/**
 * An amount in minor units (pence, cents, yen) that may be negative: a difference, a correction, a ledger entry.
 * An integer between -(2^53 - 1) and 2^53 - 1 (contract 0.2).
 */
export const SignedMinor = Schema.Int.check(Schema.isBetween({ minimum: -maxMinor, maximum: maxMinor })).pipe(
  Schema.brand("SignedMinor")
)
/** See the schema of the same name. */
export type SignedMinor = typeof SignedMinor.Type

/**
 * An amount in minor units as requests and records carry it: an integer between 0 and 2^53 - 1 (contract 0.2).
 * Every Minor is also a SignedMinor.
 */
export const Minor = SignedMinor.check(Schema.isBetween({ minimum: 0, maximum: maxMinor })).pipe(Schema.brand("Minor"))
/** See the schema of the same name. */
export type Minor = typeof Minor.Type

/** A computed amount is not an integer in the range of its schema. */
export class AmountOutOfRange extends Data.TaggedError("AmountOutOfRange")<{ readonly subject: string }> {
  override get message(): string {
    return `The ${this.subject} is outside the range of amounts.`
  }
}

// What the two schemas check, without the cost of a decoder: these run for every line of every cart.
const isSigned = (value: number): value is SignedMinor => Number.isSafeInteger(value)
const isMinor = (value: number): value is Minor => isSigned(value) && value >= 0

/** Admits a computed number as a signed amount; `subject` names it in the error. */
export const signedMinor = (value: number | bigint, subject: string): Result.Result<SignedMinor, AmountOutOfRange> => {
  // A float sum or product of safe integers is a safe integer only when it is exact, so one test catches both faults.
  // The + 0 turns a negative zero into zero.
  const amount = Number(value) + 0
  return isSigned(amount) ? Result.succeed(amount) : Result.fail(new AmountOutOfRange({ subject }))
}

/** Admits a computed number as an amount that is not negative; `subject` names it in the error. */
export const minor = (value: number | bigint, subject: string): Result.Result<Minor, AmountOutOfRange> => {
  const amount = Number(value) + 0
  return isMinor(amount) ? Result.succeed(amount) : Result.fail(new AmountOutOfRange({ subject }))
}

/** Sum of amounts in minor units, refused when it is out of range. */
export const sum = (amounts: Iterable<number>, subject: string): Result.Result<SignedMinor, AmountOutOfRange> => {
  let total = 0n
  for (const amount of amounts) {
    if (!isSigned(amount)) return Result.fail(new AmountOutOfRange({ subject }))
    total += BigInt(amount)
  }
  return signedMinor(total, subject)
}

/** Amount times an integer factor (unit price times quantity); fails if it is out of range. */
export const times = (
  amount: number,
  factor: number,
  subject: string
): Result.Result<SignedMinor, AmountOutOfRange> =>
  Number.isSafeInteger(amount) && Number.isSafeInteger(factor)
    ? signedMinor(amount * factor, subject)
    : Result.fail(new AmountOutOfRange({ subject }))

/**
 * The integer nearest to numerator / denominator; halves round up (2.5 is 3, -2.5 is -2), as contract 3.3 rounds every
 * percentage. Exact, without floating point. The denominator is positive.
 */
export const roundHalfUp = (numerator: bigint, denominator: bigint): bigint => {
  // floor(n / d + 1 / 2) = floor((2 n + d) / 2 d); BigInt division truncates, so a negative remainder steps down once.
  const doubled = 2n * numerator + denominator
  const quotient = doubled / (2n * denominator)
  return doubled % (2n * denominator) < 0n ? quotient - 1n : quotient
}

const notation = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/

/**
 * A decimal number as the exact fraction of its shortest notation: 12.5 is 125 / 10, 0.1 is 1 / 10 and not the nearest
 * binary float. Undefined if not finite.
 */
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
 * `percent` per cent of an amount, rounded half up once. Decimals of the percentage count exactly: 8.25 % of 1500 is
 * 124 (contract 3.3, 3.5). A percentage that is not finite gives 0.
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
 * Splits `total` minor units over weights by the largest remainder: each weight gets the integer part of its exact
 * share, the units left over go to the largest fractions, ties to the earlier index (contract 3.3).
 *
 * The parts always add up to the total. A weight of zero gets nothing unless all weights are zero, which spreads the
 * total equally. A negative total gives the negated parts of its magnitude. When 0 <= total <= sum of weights, no part
 * exceeds its weight, so a discount never exceeds its line.
 *
 * Weights are safe integers from 0 up. Any other weight or total, or a nonzero total without weights, is a programming
 * error and throws RangeError.
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

/** An amount in minor units: an integer from 0 to 2^53 - 1 (contract §0.2). */
export const Amount = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))
