/*
 * The arithmetic of the contract a second time, in whole numbers of any size and without a line of the product: what the
 * product computes is compared with it.
 */

/** numerator / denominator of numbers that are not negative, a half goes up (contract §3.3). */
export const halfUp = (numerator: bigint, denominator: bigint): bigint =>
  numerator / denominator + (2n * (numerator % denominator) >= denominator ? 1n : 0n)

export const sumOf = (amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((sum, amount) => sum + amount, 0n)

export const least = (one: bigint, other: bigint): bigint => one < other ? one : other

/**
 * Largest remainder: everybody's whole share first, then one unit each to the largest fractions, the earlier one where two
 * are alike. Where nothing weighs anything all weigh the same.
 */
export const sharesOf = (amount: bigint, weights: ReadonlyArray<bigint>): ReadonlyArray<bigint> => {
  const whole = sumOf(weights)
  if (whole === 0n) return weights.length === 0 ? [] : sharesOf(amount, weights.map(() => 1n))
  const shares = weights.map((weight) => weight * amount / whole)
  const rests = weights.map((weight, index) => ({ index, rest: weight * amount % whole }))
  rests.sort((one, other) => one.rest < other.rest ? 1 : one.rest > other.rest ? -1 : one.index - other.index)
  for (const { index } of rests.slice(0, Number(amount - sumOf(shares)))) shares[index] = (shares[index] ?? 0n) + 1n
  return shares
}
