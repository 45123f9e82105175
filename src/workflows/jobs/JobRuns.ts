import { Context, Effect, Layer } from "effect"
import { CurrentActor, isAnonymous } from "../../domain/access/Actor.ts"
import { grants } from "../../domain/access/Permission.ts"
import { type Conflict, Forbidden, Unauthorized } from "../../domain/errors/ApiErrors.ts"
import type { RunCounts } from "../../domain/jobs/JobEngine.ts"
import { pageSize } from "../../domain/paging/Paging.ts"
import { JobRunner } from "./JobRunner.ts"

/** A run requested over HTTP. */
export interface AskedRun {
  readonly queue?: string | undefined
  readonly limit?: string | ReadonlyArray<string> | undefined
}

/** Default number of jobs in a run (spec §8). */
const ordinary = 10

const numberOf = (sent: AskedRun["limit"]): number => {
  const asked = Number(typeof sent === "string" ? sent : sent?.[0])
  return asked >= 1 ? pageSize(sent) : sent === undefined || Number.isNaN(asked) ? ordinary : 1
}

/** Who may have a queue run, and how much of it (contract, platform §12.1). */
export class JobRuns extends Context.Service<JobRuns, {
  /** In production for `*:*` only: 401 without credentials, 403 with others. `limit` is clamped to 1 to 100. */
  readonly run: (asked: AskedRun) => Effect.Effect<RunCounts, Unauthorized | Forbidden | Conflict, CurrentActor>
}>()("stoa/workflows/jobs/JobRuns") {
  static readonly layerOf = (production: boolean) =>
    Layer.effect(
      JobRuns,
      Effect.map(JobRunner, (runner) => ({
        run: Effect.fn("JobRuns.run")(function*({ limit, queue }: AskedRun) {
          const actor = yield* CurrentActor
          if (production && !grants(actor.permissions, "*:*")) {
            return yield* isAnonymous(actor) ? Unauthorized.of() : Forbidden.of("Job runner requires admin access")
          }
          return yield* Effect.catchTag(
            runner.run({ queue: queue || "default", limit: numberOf(limit) }),
            "InvalidSchedule",
            (error) => Effect.die(error)
          )
        })
      }))
    )
}
