import { Effect, Option } from "effect"
import { JobClaimRepo } from "../../domain/jobs/JobClaimRepo.ts"
import { JobNotifier } from "../../domain/jobs/JobNotifier.ts"
import { JobSettings } from "../../domain/jobs/JobSettings.ts"
import { makeJobWorker, now } from "./JobWorker.ts"
import { QueueClaims } from "./QueueClaims.ts"
import type { WorkerSlotLease } from "./WorkerSlotLeases.ts"

/** What a slot works on, and for how long. */
export interface WorkerSlotWork {
  readonly queue: string
  /** The slot's name in the leases. */
  readonly slot: string
  /** Unique to this run of the loop. */
  readonly token: string
  /** False once another worker has the slot or the process stops; checked once a second and between claims. */
  readonly mine: () => boolean
  /** Jobs run only while the lease is held. Absent: no other worker can have the slot. */
  readonly lease?: WorkerSlotLease
  /** Runs whenever more jobs arrive than can start at once, or while others are running. */
  readonly busy?: Effect.Effect<void>
}

/**
 * Works on a queue until another worker has the slot, or the time is over and no job runs (ARCHITECTURE §3). Claims,
 * runs and settles jobs as fast as they arrive; when idle, waits for a notification, the time of the next job or the
 * poll. On a stop, running jobs get some time to end and are then released. Returns the number of claimed jobs.
 */
export const runWorkerSlot = Effect.fnUntraced(
  function*({ busy = Effect.void, lease, mine, queue, slot, token }: WorkerSlotWork) {
    const { batch, concurrency, cycleMs, leaseMs, pollMs } = yield* JobSettings
    const repo = yield* JobClaimRepo
    const latch = yield* (yield* JobNotifier).latch(queue)
    const hand = yield* makeJobWorker(queue, token, latch, lease?.isHeld)
    const claims = yield* QueueClaims
    const begun = yield* now
    let size = concurrency
    let taken = 0

    const wait = Effect.fnUntraced(function*(longest: number) {
      const until = (yield* now) + longest
      while (mine()) {
        const left = until - (yield* now)
        if (left <= 0) return
        if (Option.isSome(yield* Effect.timeoutOption(latch.await, Math.min(left, 1_000)))) return
      }
    })

    const turn = Effect.fnUntraced(function*(mayClaim: boolean) {
      latch.closeUnsafe()
      yield* hand.settle
      const free = hand.size() === 0 ? size : concurrency - hand.size()
      if (!mayClaim || free <= 0) return yield* hand.hasEnded() ? Effect.void : wait(pollMs)
      const found = yield* claims.take({ queue, slot, token, leaseMs, limit: free })
      taken += found.jobs.length
      if (found.full || (found.jobs.length > 0 && hand.size() > 0)) yield* busy
      yield* hand.take(found.jobs)
      // If handlers ended before the next claim, a larger claim pays off; otherwise claim no more than can run.
      size = hand.running() > 0 ? concurrency : found.full ? Math.min(batch, size * 2) : size
      if (!found.empty || hand.hasEnded()) return yield* Effect.yieldNow
      const due = yield* repo.nextDue(queue)
      const left = due === undefined ? pollMs : due.getTime() - (yield* now)
      // A claim that did not start at the oldest job may have missed one, so look again as soon as a full scan is
      // allowed.
      yield* wait(Math.max(1, Math.min(pollMs, left, found.wholeInMs || pollMs)))
    })

    const safely = (work: Effect.Effect<void>) =>
      Effect.catchDefect(
        work,
        (defect) => Effect.andThen(Effect.logWarning(`the queue ${queue} could not be looked at`, defect), wait(1_000))
      )

    const loop = Effect.gen(function*() {
      yield* Effect.forkScoped(hand.beat)
      if (lease !== undefined) yield* Effect.forkScoped(Effect.andThen(lease.lost, hand.stop))
      for (let age = 0; mine() && (age < cycleMs || hand.size() > 0); age = (yield* now) - begun) {
        // A slot that is never empty hands over too: then it waits for what it has.
        yield* safely(turn(age < 5 * cycleMs))
      }
      if (hand.size() > 0) yield* lease?.isHeld() === false ? hand.release : hand.drain
      return taken
    })
    return yield* Effect.onInterrupt(loop, () => hand.release)
  },
  Effect.scoped
)
