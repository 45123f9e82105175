import { Context, Effect, Layer, Semaphore } from "effect"
import type { ClaimedJob } from "../../domain/jobs/Job.ts"
import { type Claim, type Claimed, JobClaimRepo } from "../../domain/jobs/JobClaimRepo.ts"
import { JobSettings } from "../../domain/jobs/JobSettings.ts"
import { now } from "./JobWorker.ts"

/** What a slot is to work on, and what it should do next. */
export interface Taken {
  readonly jobs: ReadonlyArray<ClaimedJob>
  /** No job was found or set aside for its key. */
  readonly empty: boolean
  /** There may be more. */
  readonly full: boolean
  /** Milliseconds until the queue can be scanned from its beginning; 0 if this claim did so. */
  readonly wholeInMs: number
}

/** How often a queue that is never empty is searched for jobs of others, and from its very beginning, in ms. */
const fairEveryMs = 125
const wholeEveryMs = 1_000

/** Jobs of a transaction that began so long before another one may become visible after its. */
const overlapMs = 50

/**
 * While an old transaction is open, the index keeps entries of all finished jobs, and a claim from the beginning walks
 * over them. If that is slow, limit it to a twentieth of the time.
 */
const slowMs = 25
const share = 20
const restOf = (costMs: number) => costMs < slowMs ? 0 : costMs * share

/** What the claims of a process remember of a queue. */
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

/** Runs a claim and notes when it was and what it cost. */
const noting = <A>(costly: { at: number; costMs: number }, at: number, claim: Effect.Effect<A>) =>
  Effect.tap(claim, () =>
    Effect.map(now, (end) => {
      costly.at = end
      costly.costMs = end - at
    }))

const takeFairly = Effect.fnUntraced(function*(repo: JobClaimRepo["Service"], view: View, claim: Claim) {
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

/**
 * Serializes the claims of all slots of a process per queue, and shares their state: where the last one began, and when
 * the queue was last scanned from its beginning and for jobs of other organizations. Two claims at once would begin at
 * the same job, each walking over what the other has just locked. Only the cost depends on it: PostgreSQL separates
 * claims of several processes.
 */
export class QueueClaims extends Context.Service<QueueClaims, {
  /** Claims jobs for a slot, up to the claim's limit. */
  readonly take: (claim: Claim) => Effect.Effect<Taken>
}>()("stoa/workflows/jobs/QueueClaims") {
  static readonly layer = Layer.effect(
    QueueClaims,
    Effect.gen(function*() {
      const repo = yield* JobClaimRepo
      const { order } = yield* JobSettings
      const views = new Map<string, View>()

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
        take: (claim) => {
          const view = viewOf(claim.queue)
          return view.turn.withPermits(1)(take(view, claim))
        }
      }
    })
  )
}
