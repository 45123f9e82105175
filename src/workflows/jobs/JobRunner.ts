import { Context, Effect, Layer } from "effect"
import { Conflict } from "../../domain/errors/ApiErrors.ts"
import { newId } from "../../domain/ids/Id.ts"
import type { ClaimedJob } from "../../domain/jobs/Job.ts"
import { type Claim, type Claimed, JobClaimRepo } from "../../domain/jobs/JobClaimRepo.ts"
import { askEngine, ConfiguredEngine, type RunCounts } from "../../domain/jobs/JobEngine.ts"
import { JobNotifier } from "../../domain/jobs/JobNotifier.ts"
import { JobSettings } from "../../domain/jobs/JobSettings.ts"
import { JobSettleRepo } from "../../domain/jobs/JobSettleRepo.ts"
import type { TaskRuns } from "../../domain/jobs/TaskRuns.ts"
import { type InvalidSchedule, JobSchedules } from "./JobSchedules.ts"
import { makeJobWorker, now } from "./JobWorker.ts"

/** Which queue to run, and how many jobs of it at most. */
export interface RunRequest {
  readonly queue: string
  readonly limit: number
}

/** Fewer are not shared out between organizations. */
const shareable = 4

/**
 * One run of a queue for external drivers: the cron route, the command line, a server-side call (spec §4). Jobs of a
 * run whose process dies are reclaimed when their lease ends.
 */
export class JobRunner extends Context.Service<JobRunner, {
  /** 409 if an external runtime drives the deployment's engine. */
  readonly run: (request: RunRequest) => Effect.Effect<RunCounts, Conflict | InvalidSchedule>
}>()("stoa/workflows/jobs/JobRunner") {
  static readonly layer = Layer.effect(
    JobRunner,
    Effect.gen(function*() {
      const { engine } = yield* ConfiguredEngine
      const claims = yield* JobClaimRepo
      const settles = yield* JobSettleRepo
      const schedules = yield* JobSchedules
      const settings = yield* JobSettings
      const context = yield* Effect.context<JobSettleRepo | JobSettings | TaskRuns | JobNotifier>()
      const jobNotifier = yield* JobNotifier
      const shares = { after: "" }
      let reapedAt = -Infinity

      const reap = Effect.gen(function*() {
        const at = yield* now
        if (at - reapedAt < settings.reapMs) return 0
        reapedAt = at
        const { failed, pending } = yield* settles.reap
        return pending + failed
      })

      const runOwn = Effect.fnUntraced(function*({ limit, queue }: RunRequest) {
        yield* schedules.enqueueDue
        const reaped = yield* reap
        yield* settles.unpark
        const claim = { queue, slot: `run-${newId()}`, token: newId(), leaseMs: settings.leaseMs, limit }
        const hand = yield* makeJobWorker(queue, claim.token, yield* jobNotifier.latch(queue))
        yield* Effect.forkScoped(hand.beat)
        const released = yield* Effect.onInterrupt(
          Effect.tap(takeInTurn(claims, settings, claim, hand.take, shares), hand.finish),
          () => hand.release
        )
        return { ...hand.counts(), released, reaped }
      }, Effect.scoped)

      return {
        run: Effect.fn("JobRunner.run")(function*(request: RunRequest) {
          if (engine === undefined) return yield* Effect.provideContext(runOwn(request), context)
          const { execution } = engine
          if (execution.mode === "push") {
            return yield* Conflict.of("The jobs of this deployment are run by an engine of their own.")
          }
          return yield* askEngine(() => execution.run(request))
        })
      }
    })
  )
}

/**
 * Claims as many jobs as the run can take, the last quarter from organizations that had none yet, and starts them. Jobs
 * set aside for their key do not count: the next claim sees the jobs behind them. Returns how many were set aside.
 */
const takeInTurn = Effect.fnUntraced(function*(
  claims: JobClaimRepo["Service"],
  { order }: JobSettings["Service"],
  claim: Claim,
  begin: (jobs: ReadonlyArray<ClaimedJob>) => Effect.Effect<void>,
  shares: { after: string }
) {
  const served = new Set<string>()
  let [left, released] = [claim.limit, 0]

  const begun = Effect.fnUntraced(function*({ jobs, parked }: Claimed) {
    left -= jobs.length
    released += parked
    for (const { organizationId } of jobs) served.add(organizationId)
    yield* begin(jobs)
    return parked
  })
  const takeDownTo = Effect.fnUntraced(function*(rest: number) {
    let more = true
    while (more && left > rest) more = (yield* begun(yield* claims.take({ ...claim, limit: left - rest }, order))) > 0
  })

  const share = claim.limit >= shareable ? claim.limit >> 2 : 0
  yield* takeDownTo(share)
  if (share > 0 && left === share) {
    const found = yield* claims.takeFairly({ ...claim, limit: left }, shares.after, [...served])
    shares.after = found.after
    yield* begun(found)
  }
  yield* takeDownTo(0)
  return released
})
