import { Effect, Layer } from "effect"
import { JobRecordRepo } from "../../domain/platform/jobs/JobRecordRepo.ts"
import { FailedJobs, JobRuns } from "../../domain/platform/jobs/Jobs.ts"
import { migrations } from "../../domain/platform/jobs/migrations.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { Tasks } from "../../domain/platform/tasks/Task.ts"
import { jobsHttp } from "../../http/jobs/JobsHttp.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { JobClaimStatements } from "../jobs/JobClaimStatements.ts"
import { jobNotificationsLayer, JobNotifier, WorkerLoopStarter } from "../jobs/JobNotifier.ts"
import { JobQueueRepo, SchedulerTickRepo } from "../jobs/JobQueueRepo.ts"
import { engineDriverLayer, jobRunnerLayer, registeredTasksLayer } from "../jobs/JobRunner.ts"
import { JobSchedules, queuedJobsLayer, schedulesLayer } from "../jobs/QueuedJobs.ts"
import { TaskRuns } from "../jobs/TaskRuns.ts"
import { workerLoopLayer, workerLoopsLayer } from "../jobs/WorkerLoop.ts"
import { QueueClaims } from "../jobs/WorkerSlot.ts"
import { WorkerSlotLeases, WorkerSlotRepo } from "../jobs/WorkerSlotRepo.ts"
import { events } from "./events.ts"
import { tenancy } from "./tenancy.ts"

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
  JobClaimStatements.layer,
  JobQueueRepo.layer,
  JobRecordRepo.layer,
  WorkerSlotRepo.layer,
  SchedulerTickRepo.layer
)

/** The job queue (spec §2 and §4). Later modules can enqueue and add tasks. */
export const jobs = defineModule({
  id: "jobs",
  requires: [tenancy, events],
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
