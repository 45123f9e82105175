import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { Access, anyOf, open } from "../../domain/platform/access/AccessRule.ts"
import { JobId } from "../../domain/platform/ids/Id.ts"
import { Job, RunCounts } from "../../domain/platform/jobs/Job.ts"
import { limitOf } from "../../domain/platform/paging/Paging.ts"
import { guarded, lists, summary } from "../endpoint/Resource.ts"
import { Data } from "../envelope/Envelope.ts"

const run = {
  query: {
    queue: Schema.optional(Schema.String.annotate({ description: "Queue to run. Default `default`." })),
    limit: limitOf(10, "Jobs at most")
  },
  success: Data(RunCounts)
}

const runTexts = summary(
  "Run due jobs of a queue once",
  "For a cron service, where the processes do not do it themselves. In production it needs the permission `*:*`. " +
    "409 when an engine of the deployment's own drives the jobs."
)

/** Background jobs (spec §4 Jobs, contract platform §12.1). */
export const JobsGroup = guarded(
  "jobs",
  lists("failed", "/api/admin/jobs/failed", Job, "List failed jobs, the last to end first")
    .annotate(Access, anyOf("jobs:admin")),
  HttpApiEndpoint.post("retry", "/api/admin/jobs/:id/retry", { params: { id: JobId }, success: Data(Job) })
    .annotate(Access, anyOf("jobs:admin"))
    .annotateMerge(summary("Retry a failed job", "With all its tries. 409 when the job is not failed.")),
  HttpApiEndpoint.get("run", "/api/jobs/run", run).annotate(Access, open).annotateMerge(runTexts),
  HttpApiEndpoint.post("runByPost", "/api/jobs/run", run).annotate(Access, open).annotateMerge(runTexts)
)
