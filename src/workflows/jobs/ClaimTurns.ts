import { Context, type Effect, Hash, Semaphore } from "effect"

/** Queues have any names, so a few turns stand for all of them. */
const size = 16

/**
 * Lets the slots of a queue in this process claim one after the other. Two claims at once begin at the same job, and each
 * walks over all that the other has just locked; one that waits for its turn finds those gone. Only the cost depends on
 * it: PostgreSQL keeps claims of several processes apart.
 */
export const ClaimTurns = Context.Reference<{
  readonly inTurn: <A, E, R>(queue: string, claim: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>("stoa/workflows/jobs/ClaimTurns", {
  defaultValue: () => {
    const turns = Array.from({ length: size }, () => Semaphore.makeUnsafe(1))
    return {
      inTurn: (queue, claim) => turns[Math.abs(Hash.string(queue)) % size]?.withPermits(1)(claim) ?? claim
    }
  }
})
