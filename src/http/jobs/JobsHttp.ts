import { Effect } from "effect"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { FailedJobs, JobRuns } from "../../domain/platform/jobs/Jobs.ts"
import { pageOf } from "../../domain/platform/paging/Paging.ts"
import { JobsGroup } from "./JobsApi.ts"

export const jobsHttp = HttpApiBuilder.group(
  HttpApi.make("stoa").add(JobsGroup),
  "jobs",
  Effect.fnUntraced(function*(handlers) {
    const failed = yield* FailedJobs
    const runs = yield* JobRuns
    return handlers.handleAll({
      failed: ({ query }) => failed.list(pageOf(query)),
      retry: ({ params }) => failed.retry(params.id),
      run: ({ query }) => runs.run(query),
      runByPost: ({ query }) => runs.run(query)
    })
  })
)
