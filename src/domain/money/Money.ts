import { Data, Result, Schema } from "effect"

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

const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/

/**
 * A decimal number as the exact fraction of its shortest notation: 12.5 is 125 / 10, 0.1 is 1 / 10 and not the nearest
 * binary float. Undefined if not finite.
 */
export const exactFraction = (
  value: number
): { readonly numerator: bigint; readonly denominator: bigint } | undefined => {
  const parts = decimal.exec(String(value))
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
