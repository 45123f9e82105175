import { Context, Effect } from "effect"
import { currentOrganization } from "../../domain/access/Actor.ts"
import { ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import { FailedJobs } from "../../domain/jobs/FailedJobs.ts"
import { Jobs } from "../../domain/jobs/Jobs.ts"
import { JobsRpc } from "./JobsRpc.ts"
import { askedPage } from "./RpcLists.ts"
import { allPages } from "./RpcPages.ts"

/**
 * Tasks that a call may ask for: the deployment's own. Those of the core act as the service itself on inputs that it made:
 * nobody outside makes them up.
 */
export class AskedTasks extends Context.Service<AskedTasks, { readonly has: (slug: string) => boolean }>()(
  "stoa/http/rpc/AskedTasks"
) {}

/** Answers to the calls that `JobsRpc.ts` declares. */
export const jobsCalls = JobsRpc.toLayer(Effect.gen(function*() {
  const failed = yield* FailedJobs
  const jobs = yield* Jobs
  const asked = yield* AskedTasks
  return JobsRpc.of({
    "jobs.enqueue": Effect.fnUntraced(function*({ input, task, ...options }) {
      if (!asked.has(task)) {
        return yield* ValidationFailed.of("task", "is no task of this deployment's own", "not_found")
      }
      const organizationId = yield* currentOrganization
      return { id: yield* jobs.enqueue(task, input, { ...given(options), organizationId }) }
    }),
    "jobs.failed": (page) => failed.list(askedPage(page)),
    "jobs.stream": () => allPages(failed.list),
    "jobs.retry": ({ id }) => failed.retry(id)
  })
}))

/** The options that were sent, without keys for those that were not. */
const given = <Options extends object>(options: Options): { [Key in keyof Options]?: NonNullable<Options[Key]> } =>
  Object.assign({}, ...Object.entries(options).map(([key, value]) => value === undefined ? {} : { [key]: value }))
