import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anyOf, open } from "../../domain/access/AccessRule.ts"
import { Uuid } from "../../domain/ids/Id.ts"
import { Job } from "../../domain/jobs/Job.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { Data, Page } from "../envelope/Envelope.ts"
import { AccessControl } from "../middleware/Access.ts"
import { allIssues, Errors, ParseOptions } from "../middleware/Errors.ts"
import { Idempotency } from "../middleware/Idempotency.ts"

const Counts = Schema.Struct({
  processed: Schema.Int.annotate({ description: "Jobs that succeeded." }),
  failed: Schema.Int.annotate({ description: "Jobs that failed for good." }),
  retried: Schema.Int.annotate({ description: "Jobs that failed and will be tried again." }),
  released: Schema.Int.annotate({ description: "Jobs that were put aside for their key, without a try." }),
  reaped: Schema.Int.annotate({ description: "Jobs that were taken from dead workers." })
}).annotate({ identifier: "JobRun" })

const textOrTexts = Schema.Union([Schema.String, Schema.Array(Schema.String)])

const run = {
  query: {
    queue: Schema.optional(Schema.String.annotate({ description: "Queue to run. Default `default`." })),
    limit: Schema.optional(textOrTexts.annotate({ description: "Jobs at most, 1 to 100. Default 10." }))
  },
  success: Data(Counts)
}

const runTexts = OpenApi.annotations({
  summary: "Run due jobs of a queue once",
  description: "For a cron service, where the processes do not do it themselves. In production it needs the " +
    "permission `*:*`. 409 when an engine of the deployment's own drives the jobs."
})

/** Background jobs (spec §4 Jobs, contract platform §12.1). */
export const JobsGroup = HttpApiGroup.make("jobs").add(
  HttpApiEndpoint.get("failed", "/api/admin/jobs/failed", { query: pageQuery, success: Page(Job) })
    .annotate(Access, anyOf("jobs:admin"))
    .annotateMerge(OpenApi.annotations({ summary: "List failed jobs, the last to end first" })),
  HttpApiEndpoint.post("retry", "/api/admin/jobs/:id/retry", { params: { id: Uuid }, success: Data(Job) })
    .annotate(Access, anyOf("jobs:admin"))
    .annotateMerge(OpenApi.annotations({
      summary: "Retry a failed job",
      description: "With all its tries. 409 when the job is not failed."
    })),
  HttpApiEndpoint.get("run", "/api/jobs/run", run).annotate(Access, open).annotateMerge(runTexts),
  HttpApiEndpoint.post("runByPost", "/api/jobs/run", run).annotate(Access, open).annotateMerge(runTexts)
)
  .annotate(ParseOptions, allIssues)
  .middleware(Errors).middleware(Idempotency).middleware(AccessControl)
