import { type JobId, newId } from "../../src/domain/platform/ids/Id.ts"
import type {
  EngineJob,
  EngineOutcome,
  EngineRegistration,
  JobEngine
} from "../../src/domain/platform/tasks/JobSettings.ts"

/** An engine with a separate runtime, in memory: it runs jobs when the test says so. */
export const pushEngine = () => {
  const waiting: Array<EngineJob & { readonly id: JobId }> = []
  let registration: EngineRegistration | undefined
  const engine: JobEngine = {
    enqueue: async (jobs) => {
      const made = jobs.map((job) => ({ ...job, id: newId<JobId>() }))
      waiting.push(...made)
      return made.map(({ id }) => id)
    },
    register: (given) => {
      registration = given
    },
    execution: { mode: "push" }
  }
  return {
    engine,
    tasks: () => registration?.tasks.map(({ slug }) => slug) ?? [],
    /** Does everything that waits. */
    work: async (): Promise<ReadonlyArray<EngineOutcome>> => {
      const outcomes: Array<EngineOutcome> = []
      for (const job of waiting.splice(0)) {
        if (registration === undefined) throw new Error("No job runner is registered.")
        outcomes.push(await registration.run({ ...job, attempt: 1 }))
      }
      return outcomes
    }
  }
}
