/** Attempts that one process makes at the same time at one endpoint. */
const healthy = 8

/** The same at an endpoint that has been failing: one hangs, and the others would hang with it. */
const failing = 1

/** How many attempts are under way at each endpoint, in this process. */
export interface DeliverySlots {
  /** Takes a place; false when all are taken. */
  readonly enter: (endpointId: string, isFailing: boolean) => boolean
  readonly leave: (endpointId: string) => void
}

/** Places for attempts, so that an endpoint that does not answer cannot take all workers of the queue. */
export const deliverySlots = (): DeliverySlots => {
  const taken = new Map<string, number>()
  return {
    enter: (endpointId, isFailing) => {
      const now = taken.get(endpointId) ?? 0
      if (now >= (isFailing ? failing : healthy)) return false
      taken.set(endpointId, now + 1)
      return true
    },
    leave: (endpointId) => {
      const left = (taken.get(endpointId) ?? 1) - 1
      if (left > 0) taken.set(endpointId, left)
      else taken.delete(endpointId)
    }
  }
}

/**
 * Milliseconds until a job that found no place looks again: 1 s, doubled each time up to a minute, or up to a quarter of
 * an hour while its endpoint fails, when a long line waits for days. `spread` from 0 to 1 keeps them from coming together.
 */
export const postponedBy = (times: number, isFailing: boolean, spread: number): number =>
  Math.ceil(Math.min(isFailing ? 900_000 : 60_000, 1_000 * 2 ** times) * (0.8 + spread * 0.4))
