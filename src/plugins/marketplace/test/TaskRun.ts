import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../../../../test/support/Eventually.ts"
import { api } from "../../../../test/support/TestApp.ts"
import { Jobs } from "../../../domain/jobs/Jobs.ts"
import { inDatabase } from "./SaleBuilder.ts"

const outputOf = (id: string) =>
  inDatabase(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      sql`select coalesce(output, '{}') as output from commerce_jobs
      where id = ${id}::uuid and status = 'succeeded'`)
  ).pipe(Effect.map(([row]) => row?.["output"]))

/** Runs a task of the plugin to its end, in an app without another worker on its queue; returns its output. */
export const runTask = Effect.fnUntraced(function*(slug: string) {
  const jobs = yield* Jobs
  const id = yield* Effect.orDie(jobs.enqueue(slug, {}, { organizationId: "org_default" }))
  return yield* eventually(`${slug} to be done`, Effect.andThen(api("POST", "/api/jobs/run"), outputOf(id)))
})
