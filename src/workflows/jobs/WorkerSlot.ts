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
  /** Of this cycle alone. */
  readonly token: string
  /** False once the slot belongs to somebody else or the process stops; looked at once a second and between claims. */
  readonly mine: () => boolean
  /** Nothing runs without it. Absent: nobody else can have the slot. */
  readonly lease?: WorkerSlotLease
  /** Done whenever more jobs come than can begin at once, or while others are in hand. */
  readonly busy?: Effect.Effect<void>
}

/**
 * Works on a queue until the slot is somebody else's, or its time is over and nothing is in hand (ARCHITECTURE §3):
 * claims, runs and settles as fast as jobs come, and waits for a hint, for the time of the next job or for the poll when
 * there are none. What is in hand when it has to stop gets a while to end and is given back. Gives how many it took.
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
      // Handlers that ended before the next one began: more of them are worth a claim. Else no more than can run.
      size = hand.running() > 0 ? concurrency : found.full ? Math.min(batch, size * 2) : size
      if (!found.empty || hand.hasEnded()) return yield* Effect.yieldNow
      const due = yield* repo.nextDue(queue)
      const left = due === undefined ? pollMs : due.getTime() - (yield* now)
      // What began in the middle may have missed something: it looks again as soon as it may begin at the first.
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
