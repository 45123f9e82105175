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
