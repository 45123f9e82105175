import { Context, Effect, Layer } from "effect"
import type { CurrentActor } from "../access/Actor.ts"
import { Conflict, NotFound } from "../errors/ApiErrors.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { Job } from "./Job.ts"
import { JobRecordRepo } from "./JobRecordRepo.ts"

/** Jobs that failed for good, for the people of an organization (spec §4 Jobs). */
export class FailedJobs extends Context.Service<FailedJobs, {
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<Job>, never, CurrentActor>
  /** Restarts a failed job. 404 without it, 409 if it is not failed. */
  readonly retry: (id: string) => Effect.Effect<Job, NotFound | Conflict, CurrentActor>
}>()("stoa/domain/jobs/FailedJobs") {
  static readonly layer = Layer.effect(
    FailedJobs,
    Effect.map(JobRecordRepo, (repo) => ({
      list: repo.failed,
      retry: Effect.fn("FailedJobs.retry")(function*(id: string) {
        const again = yield* repo.retry(id)
        if (again !== undefined) return again
        const found = yield* repo.find(id)
        if (found === undefined) return yield* NotFound.of("Job not found.")
        return yield* Conflict.of(`Only failed jobs are tried again; this one is ${found.status}.`)
      })
    }))
  )
}
