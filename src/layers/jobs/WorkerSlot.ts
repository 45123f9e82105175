import { Context, Effect, Latch, Layer, Option, Semaphore } from "effect"
import { JobSettings } from "../../domain/platform/tasks/JobSettings.ts"
import { type Claim, type Claimed, JobClaimStatements } from "./JobClaimStatements.ts"
import { JobNotifier } from "./JobNotifier.ts"
import { JobQueueRepo } from "./JobQueueRepo.ts"
import { makeJobWorker, now } from "./JobWorker.ts"
import type { WorkerSlotLease } from "./WorkerSlotRepo.ts"

/** Milliseconds between searches of a busy queue for other organizations' jobs, and from its beginning. */
const fairEveryMs = 125
const wholeEveryMs = 1_000

/** Jobs of a transaction that began so long before another may become visible after it. */
const overlapMs = 50

/**
 * A slow claim from the beginning is limited to a twentieth of the time: under an old transaction it walks all finished
 * jobs. Never for long: jobs that other claims miss wait for it.
 */
const slowMs = 25
const share = 20
const longestRestMs = 5_000
const restOf = (costMs: number) => costMs < slowMs ? 0 : Math.min(longestRestMs, costMs * share)

const makeView = () => ({
  turn: Semaphore.makeUnsafe(1),
  full: false,
  served: new Array<string>(),
  after: "",
  from: undefined as Date | undefined,
  fair: { at: -Infinity, costMs: 0 },
  whole: { at: -Infinity, costMs: 0 }
})
type View = ReturnType<typeof makeView>

const wholeIn = ({ full, whole }: View, at: number) =>
  Math.max(0, whole.at + Math.max(full ? wholeEveryMs : 0, restOf(whole.costMs)) - at)

const fairIn = ({ fair }: View, at: number) => fair.at + Math.max(fairEveryMs, restOf(fair.costMs)) - at

const noting = <A>(costly: { at: number; costMs: number }, at: number, claim: Effect.Effect<A>) =>
  Effect.tap(claim, () =>
    Effect.map(now, (end) => {
      costly.at = end
      costly.costMs = end - at
    }))

const takeFairly = Effect.fnUntraced(function*(repo: JobClaimStatements["Service"], view: View, claim: Claim) {
  const limit = Math.max(1, claim.limit >> 2)
  const found = yield* noting(view.fair, yield* now, repo.takeFairly({ ...claim, limit }, view.after, view.served))
  view.after = found.after
  return found.jobs
})

const sumUp = (view: View, claim: Claim, { jobs, parked }: Claimed) => {
  view.full = jobs.length + parked >= claim.limit
  view.served = [...new Set(jobs.map(({ organizationId }) => organizationId))]
  const oldest = jobs.reduce((least, { createdAt }) => Math.min(least, createdAt.getTime()), Infinity)
  if (Number.isFinite(oldest)) view.from = new Date(oldest - overlapMs)
}

const unparkMs = 1_000

/** Unblocks jobs that a claim set aside while their key became free, once for all claims of a second. */
const unparking = Effect.gen(function*() {
  const { unpark } = yield* JobQueueRepo
  const parked = Latch.makeUnsafe(false)
  yield* parked.await.pipe(
    Effect.andThen(Effect.sleep(unparkMs)),
    Effect.andThen(Effect.suspend(() => {
      parked.closeUnsafe()
      return unpark
    })),
    Effect.catchDefect((defect) => Effect.logWarning("unparking jobs failed", defect)),
    Effect.forever,
    Effect.forkScoped
  )
  return () => {
    parked.openUnsafe()
  }
})

/**
 * Serializes a process's claims per queue and shares their state: two at once would start at the same job and walk over
 * each other's locks. PostgreSQL separates processes.
 */
export class QueueClaims extends Context.Service<QueueClaims>()("stoa/layers/jobs/QueueClaims", {
  make: Effect.gen(function*() {
    const repo = yield* JobClaimStatements
    const { order } = yield* JobSettings
    const views = new Map<string, View>()
    const unparkSoon = yield* unparking

    const viewOf = (queue: string) => {
      const view = views.get(queue) ?? makeView()
      views.set(queue, view)
      return view
    }

    const takeNext = Effect.fnUntraced(function*(view: View, claim: Claim) {
      const at = yield* now
      const wholeInMs = view.from === undefined ? 0 : wholeIn(view, at)
      const found = wholeInMs > 0
        ? yield* repo.take(claim, order, view.from)
        : yield* noting(view.whole, at, repo.take(claim, order))
      sumUp(view, claim, found)
      if (found.parked > 0) unparkSoon()
      return { ...found, wholeInMs }
    })

    const take = Effect.fnUntraced(function*(view: View, claim: Claim) {
      const fairly = view.full && fairIn(view, yield* now) <= 0 ? yield* takeFairly(repo, view, claim) : []
      const limit = claim.limit - fairly.length
      const next = limit > 0 ? yield* takeNext(view, { ...claim, limit }) : { jobs: [], parked: 1, wholeInMs: 0 }
      const jobs = [...fairly, ...next.jobs]
      return { jobs, empty: jobs.length + next.parked === 0, full: view.full, wholeInMs: next.wholeInMs }
    })

    return {
      /**
       * Claims jobs up to the limit. `empty`: none was found or set aside; `full`: there may be more; `wholeInMs`:
       * until a scan from the beginning is allowed, 0 if this was one.
       */
      take: (claim: Claim) => {
        const view = viewOf(claim.queue)
        return view.turn.withPermits(1)(take(view, claim))
      }
    }
  })
}) {
  static readonly layer = Layer.effect(QueueClaims, QueueClaims.make)
}

interface WorkerSlotWork {
  readonly queue: string
  readonly slot: string
  readonly token: string
  readonly mine: () => boolean
  /** Jobs run only while it is held. Absent: no other worker can have the slot. */
  readonly lease?: WorkerSlotLease
  readonly idleMs?: number
  readonly busy?: Effect.Effect<void>
}

/**
 * Works on a queue until another worker has the slot, or time is over and no job runs (ARCHITECTURE §3). When idle,
 * waits for a notification, a due job or the poll. On a stop, running jobs get some time and are released. Returns the
 * number of claimed jobs.
 */
export const runWorkerSlot = Effect.fnUntraced(
  function*({ busy = Effect.void, idleMs, lease, mine, queue, slot, token }: WorkerSlotWork) {
    const { batch, concurrency, loopMs, leaseMs, pollMs } = yield* JobSettings
    const repo = yield* JobClaimStatements
    const notifier = yield* JobNotifier
    const latch = yield* notifier.latch(queue)
    const worker = yield* makeJobWorker(queue, token, latch, lease?.isHeld)
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
      yield* worker.settle
      const free = worker.size() === 0 ? size : concurrency - worker.size()
      if (!mayClaim || free <= 0) return yield* worker.hasEnded() ? Effect.void : wait(pollMs)
      const found = yield* claims.take({ queue, slot, token, leaseMs, limit: free })
      taken += found.jobs.length
      if (found.full || (found.jobs.length > 0 && worker.size() > 0)) yield* busy
      yield* worker.take(found.jobs)
      // If handlers ended before the next claim, a larger claim pays off.
      size = worker.running() > 0 ? concurrency : found.full ? Math.min(batch, size * 2) : size
      if (!found.empty || worker.hasEnded()) return yield* Effect.yieldNow
      const due = yield* repo.nextDue(queue)
      const left = due === undefined ? Infinity : due.getTime() - (yield* now)
      yield* wait(Math.max(1, Math.min(notifier.restOf(pollMs), left, found.wholeInMs || Infinity)))
    })

    const safely = (work: Effect.Effect<void>) =>
      Effect.catchDefect(
        work,
        (defect) => Effect.andThen(Effect.logWarning(`the queue ${queue} could not be looked at`, defect), wait(1_000))
      )

    const loop = Effect.gen(function*() {
      yield* Effect.forkScoped(worker.beat)
      if (lease !== undefined) {
        lease.isIdle = () => worker.size() === 0
        yield* Effect.forkScoped(Effect.andThen(lease.lost, worker.stop))
      }
      const longest = () => taken === 0 ? idleMs ?? loopMs : loopMs
      for (let age = 0; mine() && (age < longest() || worker.size() > 0); age = (yield* now) - begun) {
        yield* safely(turn(age < 5 * loopMs))
      }
      if (worker.size() > 0) yield* lease?.isHeld() === false ? worker.release : worker.drain
      return taken
    })
    return yield* Effect.onInterrupt(loop, () => worker.release)
  },
  Effect.scoped
)
