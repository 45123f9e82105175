import { Effect, Layer } from "effect"
import { FailedJobs } from "../../domain/jobs/FailedJobs.ts"
import { jobClaimRepoLayer } from "../../domain/jobs/JobClaimRepo.ts"
import { ConfiguredEngine } from "../../domain/jobs/JobEngine.ts"
import { jobEnqueueRepoLayer } from "../../domain/jobs/JobEnqueueRepo.ts"
import { JobNotifier } from "../../domain/jobs/JobNotifier.ts"
import { jobRecordRepoLayer } from "../../domain/jobs/JobRecordRepo.ts"
import { JobSettings } from "../../domain/jobs/JobSettings.ts"
import { jobSettleRepoLayer } from "../../domain/jobs/JobSettleRepo.ts"
import { migrations } from "../../domain/jobs/migrations.ts"
import { queuedJobsLayer } from "../../domain/jobs/QueuedJobs.ts"
import { schedulerTickRepoLayer } from "../../domain/jobs/SchedulerTickRepo.ts"
import { TaskRuns } from "../../domain/jobs/TaskRuns.ts"
import { Tasks } from "../../domain/jobs/Tasks.ts"
import { workerSlotRepoLayer } from "../../domain/jobs/WorkerSlotRepo.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { jobsHttp } from "../../http/jobs/JobsHttp.ts"
import { engineDriverLayer } from "../../workflows/jobs/EngineDriver.ts"
import { JobRunner } from "../../workflows/jobs/JobRunner.ts"
import { JobRuns } from "../../workflows/jobs/JobRuns.ts"
import { JobSchedules } from "../../workflows/jobs/JobSchedules.ts"
import { QueueClaims } from "../../workflows/jobs/QueueClaims.ts"
import { registeredTasksLayer } from "../../workflows/jobs/RegisteredTasks.ts"
import { schedulesLayer } from "../../workflows/jobs/SchedulesDriver.ts"
import { workerLoopLayer } from "../../workflows/jobs/WorkerLoop.ts"
import { jobCyclesLayer } from "../../workflows/jobs/WorkerLoops.ts"
import { WorkerLoopStarter } from "../../workflows/jobs/WorkerLoopStarter.ts"
import { WorkerSlotLeases } from "../../workflows/jobs/WorkerSlotLeases.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { jobNotificationsLayer } from "../jobs/JobNotifications.ts"

const settings = Layer.unwrap(
  Effect.map(
    AppConfig,
    ({ deployment, jobs }) => Layer.merge(JobSettings.layerOf(jobs), ConfiguredEngine.layerOf(deployment.jobs?.adapter))
  )
)

/** What `commerce.config.ts` adds to the tasks of the core. */
const ownTasks = Layer.effectDiscard(Effect.gen(function*() {
  const { deployment } = yield* AppConfig
  const tasks = yield* Tasks
  const own = [...(deployment.tasks ?? []), ...(deployment.jobs?.tasks ?? [])]
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
  version: "1.0.0",
  requires: ["tenancy", "events"],
  permissions: [{ scope: "jobs:admin", description: "See failed jobs and have them tried again" }],
  migrations,
  services: Layer.mergeAll(routeAccess, FailedJobs.layer, registeredTasksLayer, ownTasks).pipe(
    Layer.provideMerge(JobRunner.layer),
    Layer.provideMerge(JobSchedules.layer),
    Layer.provideMerge(Layer.mergeAll(queuedJobsLayer, TaskRuns.layer, WorkerLoopStarter.layer)),
    Layer.provideMerge(Layer.mergeAll(repos, Tasks.layer, JobNotifier.layer, settings))
  ),
  actors: Layer.mergeAll(jobCyclesLayer, engineDriverLayer, schedulesLayer, jobNotificationsLayer).pipe(
    Layer.provideMerge(workerLoopLayer),
    Layer.provide([QueueClaims.layer, WorkerSlotLeases.layer])
  ),
  routes: jobsHttp
})
