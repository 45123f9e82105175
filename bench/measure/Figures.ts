/** The middle value; of an even number the lower of the two in the middle. 0 of nothing. */
export const median = (values: ReadonlyArray<number>): number => percentile([...values].sort((a, b) => a - b), 0.5)

/** The value below which this share of sorted values lies. */
export const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0

/** How fast values grow per second, by the line that fits them best; each point is [second, value]. */
export const slope = (points: ReadonlyArray<readonly [number, number]>): number => {
  const mean = (index: 0 | 1) => points.reduce((sum, point) => sum + point[index], 0) / Math.max(1, points.length)
  const [x, y] = [mean(0), mean(1)]
  const [over, under] = points.reduce(
    ([top, bottom], point) => [top + (point[0] - x) * (point[1] - y), bottom + (point[0] - x) ** 2],
    [0, 0]
  )
  return under === 0 ? 0 : over / under
}

/** Three digits that matter, and no decimals where they do not. */
export const short = (value: number): string =>
  !Number.isFinite(value)
    ? "-"
    : Math.abs(value) >= 100
    ? value.toFixed(0)
    : Math.abs(value) >= 10
    ? value.toFixed(1)
    : value.toFixed(2)
