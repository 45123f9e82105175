import { Effect, Layer } from "effect"
import { Sharding } from "effect/cluster"
import { WorkflowEngine } from "effect/workflow"
import { FailedJobs } from "../../domain/jobs/FailedJobs.ts"
import { JobClaimRepo, jobClaimRepoLayer } from "../../domain/jobs/JobClaimRepo.ts"
import { ConfiguredEngine } from "../../domain/jobs/JobEngine.ts"
import { jobEnqueueRepoLayer } from "../../domain/jobs/JobEnqueueRepo.ts"
import { jobRecordRepoLayer } from "../../domain/jobs/JobRecordRepo.ts"
import { JobSettings } from "../../domain/jobs/JobSettings.ts"
import { JobSettleRepo, jobSettleRepoLayer } from "../../domain/jobs/JobSettleRepo.ts"
import { JobSlotRepo, jobSlotRepoLayer } from "../../domain/jobs/JobSlotRepo.ts"
import { jobTickRepoLayer } from "../../domain/jobs/JobTickRepo.ts"
import { migrations } from "../../domain/jobs/migrations.ts"
import { queuedJobsLayer } from "../../domain/jobs/QueuedJobs.ts"
import { TaskRuns } from "../../domain/jobs/TaskRuns.ts"
import { Tasks } from "../../domain/jobs/Tasks.ts"
import { Wakeups } from "../../domain/jobs/Wakeups.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { jobsHttp } from "../../http/jobs/JobsHttp.ts"
import { CycleStarter } from "../../workflows/jobs/CycleStarter.ts"
import { engineDriverLayer } from "../../workflows/jobs/EngineDriver.ts"
import { jobCycleLayer } from "../../workflows/jobs/JobCycle.ts"
import { jobCyclesLayer } from "../../workflows/jobs/JobCycles.ts"
import { JobRunner } from "../../workflows/jobs/JobRunner.ts"
import { JobRuns } from "../../workflows/jobs/JobRuns.ts"
import { JobSchedules } from "../../workflows/jobs/JobSchedules.ts"
import { kernelTasksLayer } from "../../workflows/jobs/KernelTasks.ts"
import { QueueClaims } from "../../workflows/jobs/QueueClaims.ts"
import { schedulesLayer } from "../../workflows/jobs/SchedulesDriver.ts"
import { SlotLeases } from "../../workflows/jobs/SlotLeases.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { Database } from "../Database.ts"
import { jobNotificationsLayer } from "../jobs/JobNotifications.ts"
import { ofRoutes, seeing } from "../Sight.ts"

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
  jobSlotRepoLayer,
  jobTickRepoLayer
)

/** The background job queue (spec §2 and §4). Every module after it can enqueue and add tasks. */
export const jobs = defineModule({
  id: "jobs",
  version: "1.0.0",
  requires: ["tenancy", "events"],
  permissions: [{ scope: "jobs:admin", description: "See failed jobs and have them tried again" }],
  migrations,
  services: Layer.mergeAll(routeAccess, FailedJobs.layer, kernelTasksLayer, ownTasks).pipe(
    Layer.provideMerge(JobRunner.layer),
    Layer.provideMerge(JobSchedules.layer),
    Layer.provideMerge(Layer.mergeAll(queuedJobsLayer, TaskRuns.layer, CycleStarter.layer)),
    Layer.provideMerge(Layer.mergeAll(repos, Tasks.layer, Wakeups.layer, settings))
  ),
  actors: Layer.mergeAll(jobCyclesLayer, engineDriverLayer, schedulesLayer, jobNotificationsLayer).pipe(
    Layer.provideMerge(jobCycleLayer),
    Layer.provide([QueueClaims.layer, SlotLeases.layer]),
    seeing(
      ConfiguredEngine,
      CycleStarter,
      Database,
      JobClaimRepo,
      JobSchedules,
      JobSettings,
      JobSettleRepo,
      JobSlotRepo,
      Sharding.Sharding,
      TaskRuns,
      Tasks,
      Wakeups,
      WorkflowEngine.WorkflowEngine
    )
  ),
  routes: jobsHttp.pipe(seeing(FailedJobs, JobRuns, ...ofRoutes))
})
