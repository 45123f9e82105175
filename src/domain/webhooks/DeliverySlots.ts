/** Concurrent attempts of one process at one endpoint. */
const healthy = 8

/** The same at an endpoint that has been failing: one hangs, and the others would hang with it. */
const failing = 1

/** Occupied delivery slots per endpoint. */
export interface Places {
  /** Occupies a slot; false if the maximum is reached. */
  readonly enter: (at: string, most: number) => boolean
  readonly leave: (at: string) => void
}

/** Slots of this process, all free. */
export const places = (): Places => {
  const taken = new Map<string, number>()
  return {
    enter: (at, most) => {
      const now = taken.get(at) ?? 0
      if (now >= most) return false
      taken.set(at, now + 1)
      return true
    },
    leave: (at) => {
      const left = (taken.get(at) ?? 1) - 1
      if (left > 0) taken.set(at, left)
      else taken.delete(at)
    }
  }
}

/** Places for attempts at an endpoint, so that one that does not answer cannot take all workers of the queue. */
export const placesAt = (isFailing: boolean): number => (isFailing ? failing : healthy)

/**
 * Milliseconds until a job without a slot tries again: 1 s, doubled up to a minute, or up to a quarter of an hour while
 * its endpoint fails, because a long queue then waits for days. `spread` from 0 to 1 adds jitter.
 */
export const postponedBy = (times: number, isFailing: boolean, spread: number): number =>
  Math.ceil(Math.min(isFailing ? 900_000 : 60_000, 1_000 * 2 ** times) * (0.8 + spread * 0.4))
