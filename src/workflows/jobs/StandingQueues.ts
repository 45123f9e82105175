import type { JobSettingsValues } from "../../domain/jobs/JobSettings.ts"
import type { Tasks } from "../../domain/jobs/Tasks.ts"

/** Where jobs go that name no queue. */
export const defaultQueue = "default"

/** Queues that always have a worker, with all slots under load; other queues have workers only while they have jobs. */
export const standingQueues = (tasks: Tasks["Service"], { queues }: JobSettingsValues): ReadonlyArray<string> => [
  ...new Set([defaultQueue, ...queues, ...tasks.all().flatMap(({ queue }) => queue ?? [])])
]
