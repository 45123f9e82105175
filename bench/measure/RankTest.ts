/** What a rank test says of two samples. */
export interface Ranks {
  /** The chance that a value of the first is greater than one of the second; 0.5 where nothing tells them apart. */
  readonly auc: number
  /** How often chance alone would give so great a difference or a greater one (Mann-Whitney, two-sided, ties counted). */
  readonly p: number
}

/** Abramowitz and Stegun 7.1.26; its error is below 1.5e-7. */
const erf = (x: number): number => {
  const t = 1 / (1 + 0.3275911 * Math.abs(x))
  const sum = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
  return Math.sign(x) * (1 - sum * Math.exp(-x * x))
}

/** Compares two samples by the ranks of their values, so that neither scale nor outliers count. */
export const ranksOf = (first: ReadonlyArray<number>, second: ReadonlyArray<number>): Ranks => {
  const [n, m] = [first.length, second.length]
  const all = [...first.map((value) => ({ value, own: 1 })), ...second.map((value) => ({ value, own: 0 }))]
    .sort((a, b) => a.value - b.value)
  let [rankSum, ties] = [0, 0]
  for (let start = 0; start < all.length;) {
    let end = start
    while (end < all.length && all[end]?.value === all[start]?.value) end++
    // Equal values share the mean of their ranks.
    const rank = (start + 1 + end) / 2
    rankSum += rank * all.slice(start, end).reduce((sum, { own }) => sum + own, 0)
    ties += (end - start) ** 3 - (end - start)
    start = end
  }
  const u = rankSum - n * (n + 1) / 2
  const total = n + m
  const deviation = Math.sqrt(n * m / 12 * (total + 1 - ties / (total * (total - 1))))
  const z = deviation === 0 ? 0 : Math.max(0, Math.abs(u - n * m / 2) - 0.5) / deviation
  return { auc: u / (n * m), p: 1 - erf(z / Math.SQRT2) }
}
