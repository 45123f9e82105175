import { Effect } from "effect"
import { isTransient } from "../../domain/errors/Transience.ts"
import type { Settlement } from "../../domain/jobs/Job.ts"
import { JobSettleRepo } from "../../domain/jobs/JobSettleRepo.ts"
import { unwritable } from "../../domain/jobs/TaskRuns.ts"

/** How long after the database was away an end is written again, in ms. */
const pause = 250

const leaseLost = "jobs ended after their lease was lost, their results are dropped"
const writtenOrLost =
  "jobs ended while the database was away, and were written before its answer was lost or lost their lease"

/**
 * Writes the results of a token's jobs: retries while the database is away, and writes one by one if it refuses a
 * batch. Returns those written by this statement. The others lost their lease and are dropped, or an earlier attempt
 * wrote them and only its response was lost; the two cases look the same.
 */
export const settlementWriter = Effect.fnUntraced(function*(queue: string, token: string) {
  const repo = yield* JobSettleRepo

  const write = Effect.fnUntraced(function*(settlements: ReadonlyArray<Settlement>, again: boolean) {
    const written = new Set(yield* repo.settle(queue, token, settlements))
    const lost = settlements.filter(({ id }) => !written.has(id)).map(({ id }) => id)
    if (lost.length > 0) {
      yield* Effect.logWarning(`${again ? writtenOrLost : leaseLost}: ${lost.join(", ")}`)
    }
    return settlements.filter(({ id }) => written.has(id))
  })

  /** Retries while the database is away; passes on its refusals. */
  const persistently = (
    settlements: ReadonlyArray<Settlement>,
    refused: (defect: unknown) => Effect.Effect<ReadonlyArray<Settlement>>,
    again = false
  ): Effect.Effect<ReadonlyArray<Settlement>> =>
    Effect.catchDefect(write(settlements, again), (defect) =>
      isTransient(defect)
        ? Effect.logWarning("ends of jobs could not be written yet", defect).pipe(
          Effect.andThen(Effect.sleep(pause)),
          Effect.andThen(Effect.suspend(() => persistently(settlements, refused, true)))
        )
        : refused(defect))

  /** A job whose output the database refuses ends as failed. If that is refused too, the lease ends it. */
  const alone = (settlement: Settlement) =>
    persistently([settlement], (defect) =>
      Effect.andThen(
        Effect.logWarning(`the end of job ${settlement.id} was refused`, defect),
        persistently([unwritable(settlement)], () => Effect.succeed([]))
      ))

  return (settlements: ReadonlyArray<Settlement>): Effect.Effect<ReadonlyArray<Settlement>> =>
    persistently(settlements, () => Effect.map(Effect.forEach(settlements, alone), (all) => all.flat()))
})
