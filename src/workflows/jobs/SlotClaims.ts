import { Effect } from "effect"
import { type Claim, type Claimed, JobClaimRepo } from "../../domain/jobs/JobClaimRepo.ts"
import { JobSettings } from "../../domain/jobs/JobSettings.ts"
import { ClaimTurns } from "./ClaimTurns.ts"
import { now } from "./JobHand.ts"

const nothing: Claimed = { jobs: [], parked: 0 }

/** How often a queue that is never empty is searched for jobs of others, and from its very beginning, in ms. */
const fairEveryMs = 500
const wholeEveryMs = 1_000

/** Jobs of a transaction that began so long before another one may become visible after its. */
const overlapMs = 50

/** What a slot claims, one claim after the other: each remembers how the one before went. */
export const makeClaims = Effect.fnUntraced(function*(claim: Omit<Claim, "limit">) {
  const repo = yield* JobClaimRepo
  const { order } = yield* JobSettings
  const { inTurn } = yield* ClaimTurns
  let full = false
  let served: ReadonlyArray<string> = []
  let [fairAt, wholeAt] = [0, 0]
  let after = ""
  let from: Date | undefined

  const takeFairly = Effect.fnUntraced(function*(limit: number, at: number) {
    if (!full || at - fairAt < fairEveryMs) return nothing
    fairAt = at
    const found = yield* inTurn(
      claim.queue,
      repo.takeFairly({ ...claim, limit: Math.max(1, limit >> 2) }, after, served)
    )
    after = found.after
    return found
  })

  const takeNext = Effect.fnUntraced(function*(limit: number, at: number) {
    const whole = !full || at - wholeAt >= wholeEveryMs
    if (whole) wholeAt = at
    const found = yield* inTurn(claim.queue, repo.take({ ...claim, limit }, order, whole ? undefined : from))
    full = found.jobs.length + found.parked >= limit
    served = [...new Set(found.jobs.map(({ organizationId }) => organizationId))]
    const oldest = found.jobs.reduce((least, { createdAt }) => Math.min(least, createdAt.getTime()), Infinity)
    from = Number.isFinite(oldest) ? new Date(oldest - overlapMs) : undefined
    // What begins in the middle may have missed something: nothing is known to be left only after a whole look.
    return { ...found, empty: whole && found.jobs.length + found.parked === 0 }
  })

  /** At most so many; `empty` when there is certainly nothing to claim, `full` when there may be more. */
  return Effect.fnUntraced(function*(limit: number) {
    const at = yield* now
    const fairly = yield* takeFairly(limit, at)
    const rest = limit - fairly.jobs.length
    const next = rest > 0 ? yield* takeNext(rest, at) : { ...nothing, empty: false }
    return { jobs: [...fairly.jobs, ...next.jobs], empty: next.empty && fairly.jobs.length === 0, full }
  })
})
