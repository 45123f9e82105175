import { Effect, Layer, Option } from "effect"
import { Jobs } from "../domain/jobs/Jobs.ts"

const absent = Effect.die(new Error("There is no queue in this process: the job was not enqueued."))

/** Stands where no queue is wired: whoever enqueues is told. A queue that is given from outside is used. */
export const absentJobs: Layer.Layer<Jobs> = Layer.effect(
  Jobs,
  Effect.map(
    Effect.serviceOption(Jobs),
    Option.getOrElse(() => Jobs.of({ enqueue: () => absent, enqueueAll: () => absent }))
  )
)
