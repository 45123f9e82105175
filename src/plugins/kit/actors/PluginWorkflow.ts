import { Context, Effect, Schema } from "effect"
import { Workflow, WorkflowEngine } from "effect/workflow"
import { CurrentActor, currentOrganization, systemActor } from "../../../domain/platform/access/Actor.ts"
import type { HandlerJobs } from "../../../domain/platform/modules/Handlers.ts"
import { defineTask, GiveUp, type Task } from "../../../domain/platform/tasks/Task.ts"

/** What a workflow is, beside its name. */
export interface WorkflowOptions<
  Fields extends Schema.Struct.Fields,
  Success extends Schema.Top,
  Failure extends Schema.Top
> {
  /** Its input. It is stored until the workflow ends, so what is added later is optional with a default. */
  readonly input: Fields
  /** One execution for each organization and key. */
  readonly key: (input: Schema.Struct<Fields>["Type"]) => string
  /** What it ends with. Default: nothing. */
  readonly success?: Success
  /** What ends it early. Default: nothing does. */
  readonly error?: Failure
}

/** Starting is repeated for some hours: the cluster may be away. */
const retries: Task["retries"] = { attempts: 25, backoff: { type: "exponential", delay: 1_000, ceiling: 3_600_000 } }

/**
 * A durable workflow of a plugin. When its process ends, another one runs it again from the beginning: what `Activity`,
 * `DurableClock` and `DurableDeferred` of `effect/workflow` have done is not done again, everything else is and has to be
 * safe to repeat. A typed failure ends it; a defect, as of a database that is away, runs it again. `name` is
 * `<plugin>/<name>`.
 */
export const pluginWorkflow = <
  const Name extends string,
  Fields extends Record<string, Schema.Codec<unknown, unknown>>,
  Success extends Schema.Codec<unknown, unknown> = Schema.Void,
  Failure extends Schema.Codec<unknown, unknown> = Schema.Never
>(
  name: Name,
  { error, input: fields, key, success }: WorkflowOptions<Fields, Success, Failure>
) => {
  const input = Schema.Struct(fields)
  const workflow = Workflow.make(name, {
    payload: { organizationId: Schema.String, input },
    idempotencyKey: (payload) => JSON.stringify([payload.organizationId, key(payload.input)]),
    ...(success && { success }),
    ...(error && { error }),
    annotations: Context.make(Workflow.CaptureDefects, false)
  })
  const json = Schema.toCodecJson(input)
  const [encode, decode] = [Schema.encodeSync(json), Schema.decodeUnknownEffect(json)]

  const task = Effect.map(WorkflowEngine.WorkflowEngine, (engine) =>
    defineTask({
      slug: name,
      retries,
      handler: Effect.fnUntraced(function*(call) {
        const input = yield* Effect.mapError(decode(call.input["input"]), ({ message }) => new GiveUp(message))
        const payload = { organizationId: yield* currentOrganization, input }
        // A decoded value is one that its schema makes, which the compiler does not know of fields that it has not seen.
        const run = workflow.execute(payload as typeof workflow.payloadSchema["~type.make.in"], {
          discard: true,
          detached: true
        })
        return { output: { executionId: yield* Effect.provideService(run, WorkflowEngine.WorkflowEngine, engine) } }
      })
    }))

  return {
    /** For `DurableDeferred`, `poll` and `interrupt`: its payload is `{ organizationId, input }`. */
    workflow,
    /**
     * Starts it in the actor's organization by a job, in the caller's transaction exactly if that commits. An execution of this key that
     * runs, or has ended not long ago, is not started again.
     */
    start: (jobs: HandlerJobs, of: Schema.Struct<Fields>["Type"]) => jobs.enqueue(name, { input: encode(of) }),
    /** What it does, for `workflows` of the manifest: as the service itself, in the organization that it was started in. */
    behaviour: <R>(
      run: (input: Schema.Struct<Fields>["Type"]) => Effect.Effect<Success["Type"], Failure["Type"], R>
    ) => ({
      name,
      task,
      layer: workflow.toLayer(({ input, organizationId }) =>
        Effect.provideService(run(input), CurrentActor, systemActor(organizationId))
      )
    })
  }
}
