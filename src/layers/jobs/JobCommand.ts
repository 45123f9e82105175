import { Data, Effect } from "effect"
import type { RunCounts } from "../../domain/jobs/JobEngine.ts"
import { JobRunner } from "../../workflows/jobs/JobRunner.ts"

/** The run did not come about; one line that says why. Exit code 1. */
export class RunRefused extends Data.TaggedError("RunRefused")<{ readonly message: string }> {}

/** `stoa jobs run`: one run of a queue in this process. Jobs that failed are no failure of the run. */
export const runQueue = Effect.fnUntraced(function*(queue: string, limit: number) {
  if (limit < 1 || limit > 100) return yield* new RunRefused({ message: "--limit must be from 1 to 100." })
  const runner = yield* JobRunner
  return yield* Effect.catchTag(
    runner.run({ queue, limit }),
    "Conflict",
    ({ error }) => Effect.fail(new RunRefused({ message: error.message }))
  )
})

/** What a run did, in one line. */
export const tellRun = (queue: string, { failed, processed, reaped, released, retried }: RunCounts): string =>
  `queue ${queue}: ${processed} succeeded, ${failed} failed, ${retried} to be tried again, ${released} released, ` +
  `${reaped} taken from dead workers`
