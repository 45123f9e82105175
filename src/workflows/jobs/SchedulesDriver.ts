import { Effect, Layer } from "effect"
import { ConfiguredEngine } from "../../domain/jobs/JobEngine.ts"
import { JobSettings } from "../../domain/jobs/JobSettings.ts"
import { JobSchedules } from "./JobSchedules.ts"

/** Turns ticks of schedules into jobs in every process that drives the queues. A wrong schedule ends the start. */
export const schedulesLayer = Layer.effectDiscard(
  Effect.gen(function*() {
    const schedules = yield* JobSchedules
    const { engine } = yield* ConfiguredEngine
    if (!(yield* JobSettings).autorun && engine === undefined) return
    yield* schedules.enqueueDue
    yield* Effect.forkScoped(schedules.run)
  })
)
