import { Context, type Effect } from "effect"
import type { ValidationFailed } from "../errors/ApiErrors.ts"
import type { EnqueueOptions, Input, NewJob } from "./NewJob.ts"

/**
 * Enqueues background jobs (spec §2 and §4). Inside of a caller's transaction the job is part of it: it exists exactly
 * if that commits. An unknown task is accepted, and fails when it is run.
 */
export class Jobs extends Context.Service<Jobs, {
  /** Returns the id of the new job. 422 if the organization is blank or an option is invalid. */
  readonly enqueue: (
    task: string,
    input: Input,
    options: EnqueueOptions
  ) => Effect.Effect<string, ValidationFailed>
  /** Many at once, in one statement; all or none. Ids in their order. */
  readonly enqueueAll: (jobs: ReadonlyArray<NewJob>) => Effect.Effect<ReadonlyArray<string>, ValidationFailed>
}>()("stoa/domain/jobs/Jobs") {}
