import type { Metric } from "effect"

/** Upper bounds of the buckets of durations, in seconds. */
export const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** For metrics whose numbers are kept elsewhere and are only read by the registry. */
export const noUpdate = { update: () => undefined, modify: () => undefined }

/** The durations of one route or call: a bucket each, the last one for what exceeds every bound. */
export class Durations {
  readonly #buckets = new Float64Array(bounds.length + 1)
  #sum = 0

  add(seconds: number): void {
    let bucket = 0
    while (bucket < bounds.length && seconds > (bounds[bucket] ?? 0)) bucket++
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1
    this.#sum += seconds
  }

  /** As the format wants it: each bucket holds those before it too. */
  readonly state = (): Metric.HistogramState => {
    let count = 0
    const buckets = bounds.map((bound, index): [number, number] => [bound, count += this.#buckets[index] ?? 0])
    count += this.#buckets[bounds.length] ?? 0
    return { buckets, count, min: 0, max: 0, sum: this.#sum }
  }
}
