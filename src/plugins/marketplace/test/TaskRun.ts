import { Effect } from "effect"
import { onDatabase } from "../../../../test/checkout/CheckoutFixtures.ts"
import { eventually } from "../../../../test/support/Eventually.ts"
import { api } from "../../../../test/support/TestApp.ts"
import { Jobs } from "../../../domain/jobs/Jobs.ts"

/**
 * Runs a task of the plugin for an organization, in an app without another worker on its queue; gives its output. The
 * scheduler's own job may take the place of this one.
 */
export const runTask = Effect.fnUntraced(function*(slug: string, organizationId = "org_default") {
  const jobs = yield* Jobs
  const [before] = yield* onDatabase((sql) => sql`select clock_timestamp()::text as at`)
  yield* Effect.orDie(jobs.enqueue(slug, {}, { organizationId }))
  const output = onDatabase((sql) =>
    Effect.map(
      sql`select output, error, status from commerce_jobs where task_slug = ${slug}
        and organization_id = ${organizationId} and created_at >= ${before?.["at"] ?? null}::timestamptz
        and status in ('succeeded', 'failed')`,
      ([job]) => job?.["status"] === "failed" ? { failed: job["error"] } : job?.["output"]
    )
  )
  return yield* eventually(slug, Effect.andThen(api("POST", "/api/jobs/run"), output))
})
