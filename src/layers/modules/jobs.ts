import { Effect, Layer } from "effect"
import { jobRecordRepoLayer } from "../../domain/jobs/JobRecordRepo.ts"
import { FailedJobs, JobRuns } from "../../domain/jobs/Jobs.ts"
import { migrations } from "../../domain/jobs/migrations.ts"
import { Tasks } from "../../domain/jobs/Task.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { jobsHttp } from "../../http/jobs/JobsHttp.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { jobClaimRepoLayer } from "../jobs/JobClaimRepo.ts"
import { jobEnqueueRepoLayer, schedulerTickRepoLayer } from "../jobs/JobEnqueueRepo.ts"
import { jobNotificationsLayer, JobNotifier, WorkerLoopStarter } from "../jobs/JobNotifier.ts"
import { engineDriverLayer, jobRunnerLayer, registeredTasksLayer } from "../jobs/JobRunner.ts"
import { JobSchedules, schedulesLayer } from "../jobs/JobSchedules.ts"
import { jobSettleRepoLayer } from "../jobs/JobSettleRepo.ts"
import { queuedJobsLayer } from "../jobs/QueuedJobs.ts"
import { TaskRuns } from "../jobs/TaskRuns.ts"
import { workerLoopLayer, workerLoopsLayer } from "../jobs/WorkerLoop.ts"
import { QueueClaims } from "../jobs/WorkerSlot.ts"
import { WorkerSlotLeases, workerSlotRepoLayer } from "../jobs/WorkerSlotRepo.ts"

/** What `commerce.config.ts` adds to the tasks of the core. */
const ownTasks = Layer.effectDiscard(Effect.gen(function*() {
  const { deployment } = yield* AppConfig
  const tasks = yield* Tasks
  const own = [...deployment.tasks, ...deployment.jobs.tasks]
  yield* Effect.forEach(own, (task) => tasks.register(task), { discard: true })
}))

const routeAccess = Layer.unwrap(
  Effect.map(AppConfig, ({ environment }) => JobRuns.layerOf(environment === "production"))
)

const repos = Layer.mergeAll(
  jobClaimRepoLayer,
  jobEnqueueRepoLayer,
  jobRecordRepoLayer,
  jobSettleRepoLayer,
  workerSlotRepoLayer,
  schedulerTickRepoLayer
)

/** The background job queue (spec §2 and §4). Every module after it can enqueue and add tasks. */
export const jobs = defineModule({
  id: "jobs",
  requires: ["tenancy", "events"],
  permissions: [{ scope: "jobs:admin", description: "See failed jobs and have them tried again" }],
  migrations,
  services: Layer.mergeAll(routeAccess, FailedJobs.layer, registeredTasksLayer, ownTasks).pipe(
    Layer.provideMerge(jobRunnerLayer),
    Layer.provideMerge(JobSchedules.layer),
    Layer.provideMerge(Layer.mergeAll(queuedJobsLayer, TaskRuns.layer, WorkerLoopStarter.layer)),
    Layer.provideMerge(Layer.mergeAll(repos, Tasks.layer, JobNotifier.layer))
  ),
  actors: Layer.mergeAll(workerLoopsLayer, engineDriverLayer, schedulesLayer, jobNotificationsLayer).pipe(
    Layer.provideMerge(workerLoopLayer),
    Layer.provide([QueueClaims.layer, WorkerSlotLeases.layer])
  ),
  routes: jobsHttp
})
