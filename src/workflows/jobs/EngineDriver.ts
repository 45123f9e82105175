import { Cause, Effect, Exit, Layer, Schema } from "effect"
import type { Settlement } from "../../domain/jobs/Job.ts"
import { askEngine, ConfiguredEngine, type EngineCall, type EngineOutcome } from "../../domain/jobs/JobEngine.ts"
import { JobSettings } from "../../domain/jobs/JobSettings.ts"
import { errorText } from "../../domain/jobs/JobText.ts"
import { TaskRuns } from "../../domain/jobs/TaskRuns.ts"
import { Tasks } from "../../domain/jobs/Tasks.ts"
import { standingQueues } from "./StandingQueues.ts"

/** Jobs of one poll of an engine's queue. */
const atOnce = 100

const Output = Schema.fromJsonString(Schema.Unknown)

const outcomeOf = ({ delayMs, error, output, status }: Settlement): EngineOutcome =>
  status === "succeeded"
    ? { status, output: output === null ? null : Schema.decodeUnknownSync(Output)(output) }
    : status === "failed"
    ? { status, error: error ?? "" }
    : { status: "retry", error: error ?? "", delayMs }

/**
 * Connects a deployment's engine to a process that runs jobs: it receives the tasks and how to run one, and the queues
 * of a pull engine are polled, one poll at a time. Does nothing for the built-in queue.
 */
export const engineDriverLayer = Layer.effectDiscard(
  Effect.gen(function*() {
    const { engine } = yield* ConfiguredEngine
    if (engine === undefined) return
    const runs = yield* TaskRuns
    const settings = yield* JobSettings
    const tasks = yield* Tasks

    const run = async ({ attempt, organizationId, task, ...call }: EngineCall): Promise<EngineOutcome> => {
      const job = { ...call, organizationId, taskSlug: task, attempts: attempt, createdAt: new Date(0) }
      const exit = await Effect.runPromiseExit(runs.run(job))
      return Exit.isSuccess(exit) ? outcomeOf(exit.value) : {
        status: "retry",
        error: errorText(Cause.squash(exit.cause)),
        delayMs: 0
      }
    }
    yield* askEngine(() => engine.register({ tasks: tasks.all(), processingOrder: settings.order, run }))

    const { execution } = engine
    if (execution.mode === "push" || !settings.autorun) return
    const look = (queue: string) =>
      askEngine(() => execution.run({ queue, limit: atOnce })).pipe(
        Effect.catchDefect((defect) => Effect.logWarning(`the queue ${queue} could not be run`, defect))
      )
    yield* Effect.forEach(standingQueues(tasks, settings), look, { discard: true }).pipe(
      Effect.delay(settings.pollMs),
      Effect.forever,
      Effect.forkScoped
    )
  })
)
